import type { TimeRange } from '@dendro/language/time-range'

/**
 * Returns the start of one of `count` equal slices of a range. Slice `count` starts at the end of the range. Slices neither overlap nor
 * leave gaps.
 */
export function sliceStartMs({ fromMs, toMs }: TimeRange, count: number, index: number): number {
  const product = index * (toMs - fromMs)
  if (Number.isSafeInteger(product)) return fromMs + Math.ceil(product / count)
  const [dividend, divisor] = [BigInt(index) * BigInt(toMs - fromMs), BigInt(count)]
  return fromMs + Number((dividend + divisor - 1n) / divisor)
}

/** Returns the slice of a range that contains an instant. The instant has to be in the range. */
export function sliceOf({ fromMs, toMs }: TimeRange, count: number, ms: number): number {
  const product = (ms - fromMs) * count
  if (Number.isSafeInteger(product)) return Math.floor(product / (toMs - fromMs))
  return Number((BigInt(ms - fromMs) * BigInt(count)) / BigInt(toMs - fromMs))
}

/** Returns the length of a slice. Slices of a range that they do not divide differ by a millisecond; theirs is rounded. */
export const sliceLengthMs = ({ fromMs, toMs }: TimeRange, count: number): number => Math.round((toMs - fromMs) / count)
