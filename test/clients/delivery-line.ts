/** Two deliveries of a part fit into one search. */
export const LINES_PER_PART = 5_000

/** The text of a line; its part bounds the events of one search. */
export const textOf = (program: string, number: number): string =>
  `${program} part=${Math.floor(number / LINES_PER_PART)} order number=${number} is late`
