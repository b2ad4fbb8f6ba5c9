import type { Bounds } from './question.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * WIDE_MS and NARROW_MS are how far back from the wanted end the windows go in which events are looked for, until enough are found. One dataset
 * lies in the order of time, and reading it stops by itself; of many, everything within a window has to be looked at. A search of lines takes the store
 * longer to prepare than an empty window is worth, so that it has fewer of them too.
 */
const WIDE_MS: readonly number[] = [DAY_MS, 10 * DAY_MS, 100 * DAY_MS]
const NARROW_MS: readonly number[] = [15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 6 * DAY_MS, 30 * DAY_MS, 180 * DAY_MS]

/** FEW_MS is for conditions that take the store long to prepare. */
const FEW_MS: readonly number[] = [DAY_MS]

/** EARLIEST_MS is before every event: what claims to be older is stored with the time of its arrival. */
const EARLIEST_MS = Date.UTC(1999, 11, 31)

/** windowsOf are the parts of a range of time in the order in which they are read; together they are the range. */
export function windowsOf(bounds: Bounds, reading: { newestFirst: boolean; fewer: boolean; few?: boolean }): readonly Bounds[] {
  const fromMs = Math.max(bounds.fromMs, EARLIEST_MS)
  const { toMs } = bounds
  if (fromMs >= toMs) return []
  const reaches = (reading.few ? FEW_MS : reading.fewer ? WIDE_MS : NARROW_MS).filter((reachMs) => reachMs < toMs - fromMs)
  const edges = [0, ...reaches, toMs - fromMs]
  return edges.slice(1).map((reachMs, index) => {
    const nearMs = edges[index] ?? 0
    return reading.newestFirst ? { fromMs: toMs - reachMs, toMs: toMs - nearMs } : { fromMs: fromMs + nearMs, toMs: fromMs + reachMs }
  })
}
