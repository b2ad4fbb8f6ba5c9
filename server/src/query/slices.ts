import type { TimeRange } from '@dendro/language/time-range'

/** sliceStartMs is where one of `count` equal parts of a range begins; part `count` would begin at its end. Parts leave no gap and never overlap. */
export function sliceStartMs({ fromMs, toMs }: TimeRange, count: number, index: number): number {
  const product = index * (toMs - fromMs)
  if (Number.isSafeInteger(product)) return fromMs + Math.ceil(product / count)
  const [dividend, divisor] = [BigInt(index) * BigInt(toMs - fromMs), BigInt(count)]
  return fromMs + Number((dividend + divisor - 1n) / divisor)
}

/** sliceOf is the part of a range in which an instant lies, which has to be in the range. */
export function sliceOf({ fromMs, toMs }: TimeRange, count: number, ms: number): number {
  const product = (ms - fromMs) * count
  if (Number.isSafeInteger(product)) return Math.floor(product / (toMs - fromMs))
  return Number((BigInt(ms - fromMs) * BigInt(count)) / BigInt(toMs - fromMs))
}
