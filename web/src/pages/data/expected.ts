/** The windows of monitors that a pause of a sender can be compared with, in hours. */
const windows = [
  [1, '1 hour'],
  [2, '2 hours'],
  [4, '4 hours'],
  [6, '6 hours'],
  [12, '12 hours'],
  [24, '1 day'],
] as const

/** The fewest hours with events that tell a habit. */
const HOURS_MIN = 3

/**
 * expectedEvery is the shortest window in which events have always arrived, from the counts by hour. Undefined when too few hours have events, or
 * pauses are longer than a day.
 */
export function expectedEvery(counts: readonly number[]): string | undefined {
  const busy = counts.flatMap((count, at) => (count > 0 ? [at] : []))
  if (busy.length < HOURS_MIN) return undefined
  const pauses = busy.slice(1).map((at, index) => at - (busy[index] ?? at))
  const longest = Math.max(...pauses)
  return windows.find(([hours]) => hours >= longest)?.[1]
}
