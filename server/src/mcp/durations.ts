const DIGITS = 6
const NANOS_PER_MS = 1e6

/** A number with the digits that an agent needs. */
export const short = (value: number): number => Number(value.toPrecision(DIGITS))

export const msOf = (nanos: number): number => short(nanos / NANOS_PER_MS)
