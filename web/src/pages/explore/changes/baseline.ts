import { span } from '../../../parts/chart/numbers.ts'
import type { TimeSpan } from '../time/time-span.ts'

/** baselines are what a time span can be compared with: the time before it, the rest of the range, or the same time a day or a week earlier. */
export const baselines = ['before', 'rest', 'day', 'week'] as const
export type Baseline = (typeof baselines)[number]

const DAY_MS = 86_400_000
const shifts = { day: DAY_MS, week: 7 * DAY_MS }

/**
 * baselineOf is the time span to compare with. The time before is all of the range that lies before the selection if that is longer: more
 * events tell more. The rest contains the selection, which the service leaves out.
 */
export function baselineOf(baseline: Baseline, selected: TimeSpan, whole: TimeSpan): TimeSpan {
  const { fromMs, toMs } = selected
  if (baseline === 'rest') return whole
  if (baseline !== 'before') return { fromMs: fromMs - shifts[baseline], toMs: toMs - shifts[baseline] }
  return { fromMs: Math.max(0, Math.min(whole.fromMs, 2 * fromMs - toMs)), toMs: fromMs }
}

/** Labels a baseline: `the 10 min before`. */
export function baselineName(baseline: Baseline, selected: TimeSpan, whole: TimeSpan): string {
  if (baseline === 'rest') return 'the rest of the range'
  if (baseline !== 'before') return `a ${baseline} earlier`
  const { fromMs, toMs } = baselineOf(baseline, selected, whole)
  return `the ${span(toMs - fromMs < 60_000 ? toMs - fromMs : Math.round((toMs - fromMs) / 60_000) * 60_000)} before`
}
