import type { TimeRange } from '@dendro/language/time-range'

/** A range with its distance from the range that it was moved from. */
export type MovedRange = TimeRange & { byMs: number }

/** A range with the number of its slices. Both its ends are multiples of their width. */
export type AlignedRange = TimeRange & { slices: number }

const SLICES = 60
const SECOND_MS = 1_000

export const moved = ({ fromMs, toMs }: TimeRange, byMs: number): MovedRange => ({ fromMs: fromMs + byMs, toMs: toMs + byMs, byMs })

/** Returns ranges that were never requested but hold practically the same events: each is moved by one millisecond more. */
export function newRanges(range: TimeRange): () => MovedRange {
  let byMs = 0
  return () => {
    byMs += 1
    return moved(range, byMs)
  }
}

/**
 * Covers a range with about sixty slices of whole seconds, as the web app requests charts. Wider slices make another request for the same events:
 * one that was never sent.
 */
export function alignedRange({ fromMs, toMs }: TimeRange, widerByS: number): AlignedRange {
  const widthMs = (Math.ceil((toMs - fromMs) / SLICES / SECOND_MS) + widerByS) * SECOND_MS
  const first = Math.floor(fromMs / widthMs)
  const end = Math.ceil(toMs / widthMs)
  return { fromMs: first * widthMs, toMs: end * widthMs, slices: end - first }
}
