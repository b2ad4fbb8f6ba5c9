import type { TimeBounds } from '../../../query/bounds.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Clocks of senders may be ahead. */
const AHEAD_MS = DAY_MS

/** The ranges in which a trace is looked for, one after the other, until it is found. */
export function searchRanges(nowMs: number, timestamp: number | undefined): readonly TimeBounds[] {
  const whole = { fromMs: 0, toMs: nowMs + AHEAD_MS }
  const newest = { fromMs: nowMs - DAY_MS, toMs: whole.toMs }
  if (timestamp === undefined) return [newest, whole]
  return [{ fromMs: Math.max(0, timestamp - HOUR_MS), toMs: timestamp + HOUR_MS }, newest, whole]
}

type FoundTimes = { readonly firstMs: number; readonly lastMs: number; readonly lacksParents: boolean }

/**
 * The range to read again when a trace may go on beyond the range in which it was found: its first or last event is close to an end, or parents of
 * its spans may have begun before. Undefined if it may not.
 */
export function widerRange({ fromMs, toMs }: TimeBounds, { firstMs, lastMs, lacksParents }: FoundTimes): TimeBounds | undefined {
  const nearStart = fromMs > 0 && (lacksParents || firstMs - fromMs < HOUR_MS / 2)
  const nearEnd = toMs - lastMs < HOUR_MS / 2
  if (!nearStart && !nearEnd) return undefined
  return { fromMs: nearStart ? Math.max(0, Math.min(fromMs, firstMs) - DAY_MS) : fromMs, toMs: nearEnd ? lastMs + DAY_MS : toMs }
}
