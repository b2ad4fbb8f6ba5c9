import type { TimeBounds } from './event-query.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * How far back the time windows reach, in which events are searched until there are enough. One dataset is stored in time order, so reading
 * it stops by itself. For several datasets, everything within a window is read. Searches of lines take long to prepare, so they get fewer
 * windows.
 */
const WIDE_MS: readonly number[] = [DAY_MS, 10 * DAY_MS, 100 * DAY_MS]
const NARROW_MS: readonly number[] = [15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 6 * DAY_MS, 30 * DAY_MS, 180 * DAY_MS]

/** For conditions that the store needs long to prepare. */
const COSTLY_MS: readonly number[] = [DAY_MS]

/** Before every event: events with an older time are stored with their time of arrival. */
const EARLIEST_MS = Date.UTC(1999, 11, 31)

/** Splits a time range into the windows in which it is read, in order. */
export function windowsOf(bounds: TimeBounds, reading: { newestFirst: boolean; fewer: boolean; few?: boolean }): readonly TimeBounds[] {
  const fromMs = Math.max(bounds.fromMs, EARLIEST_MS)
  const { toMs } = bounds
  if (fromMs >= toMs) return []
  const reaches = (reading.few ? COSTLY_MS : reading.fewer ? WIDE_MS : NARROW_MS).filter((reachMs) => reachMs < toMs - fromMs)
  const edges = [0, ...reaches, toMs - fromMs]
  return edges.slice(1).map((reachMs, index) => {
    const nearMs = edges[index] ?? 0
    return reading.newestFirst ? { fromMs: toMs - reachMs, toMs: toMs - nearMs } : { fromMs: fromMs + nearMs, toMs: fromMs + reachMs }
  })
}
