import { span } from '../../../parts/chart/numbers.ts'
import { boundsOf, type Range } from '../../../parts/time/time-range.ts'
import type { Bars } from './bars.ts'

/** The periods that a range can be compared with. */
export const comparisons = ['previous', 'day', 'week'] as const
export type Comparison = (typeof comparisons)[number]

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS

/** The time between a range and the period it is compared with. */
export const shiftOf = (comparison: Comparison, lengthMs: number): number =>
  comparison === 'previous' ? lengthMs : comparison === 'day' ? DAY_MS : WEEK_MS

/** The period that a range is compared with. */
export function earlierRange(range: Range, comparison: Comparison, nowMs: number): { fromMs: number; toMs: number } {
  const { fromMs, toMs } = boundsOf(range, nowMs)
  const shiftMs = shiftOf(comparison, toMs - fromMs)
  return { fromMs: Math.max(0, fromMs - shiftMs), toMs: Math.max(1, toMs - shiftMs) }
}

/** Labels the compared period: `15 min earlier`. */
export const comparisonName = (comparison: Comparison, range: Range): string => {
  const { fromMs, toMs } = boundsOf(range, Date.now())
  return `${span(shiftOf(comparison, floorTo(toMs - fromMs)))} earlier`
}

const floorTo = (ms: number): number => (ms < 60_000 ? ms : Math.floor(ms / 60_000) * 60_000)

/** Sums the complete bars and the earlier bars they are compared with. Bars that are still filling are left out. */
export function comparableTotals(now: Bars, earlier: Bars): { now: number; before: number } {
  const sums = { now: 0, before: 0 }
  for (const [at, bar] of now.bars.entries()) {
    const earlierBar = earlier.bars[at]
    if (!earlierBar || bar.fromMs + now.stepMs > now.endMs || bar.fromMs < now.endMs - now.lengthMs) continue
    sums.now += bar.info + bar.warn + bar.error
    sums.before += earlierBar.info + earlierBar.warn + earlierBar.error
  }
  return sums
}
