import type { Retention, RetentionEntity } from '@dendro/api'
import { z } from 'zod'
import type { ClockReport } from '../../../kernel/clock.ts'
import { fixedRetention } from '../datasets/datasets.ts'

const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** The number of days of each retention. */
export const daysOf = {
  DAYS_30: 30,
  DAYS_90: 90,
  DAYS_180: 180,
  DAYS_365: 365,
  DAYS_548: 548,
  DAYS_730: 730,
} as const satisfies Record<Retention, number>

/** All rules that decide about a dataset besides its own retention. `deploymentDays` is undefined if events are kept forever. */
export type RetentionRules = {
  collections: ReadonlyMap<string, Retention>
  organisation: Retention | undefined
  deploymentDays: number | undefined
}

/** How long events of a dataset are kept, forever without days, and the rule that decides it. */
export type EffectiveRetention = { days: number | undefined; by: RetentionEntity | 'DEPLOYMENT' }

/** The most specific rule wins. */
export function effectiveRetention(
  dataset: { collection: string; retention: Retention | null },
  rules: RetentionRules,
): EffectiveRetention {
  const own = fixedRetention(dataset.collection)
  if (own) return { days: own.days, by: 'DEPLOYMENT' }
  if (dataset.retention) return { days: daysOf[dataset.retention], by: 'LOG' }
  const ofCollection = rules.collections.get(dataset.collection)
  if (ofCollection) return { days: daysOf[ofCollection], by: 'LOG_SET' }
  if (rules.organisation) return { days: daysOf[rules.organisation], by: 'ORGANISATION' }
  return { days: rules.deploymentDays, by: 'DEPLOYMENT' }
}

/** Older events are not found any more; undefined if all are found. */
export const retentionCutoffMs = ({ days }: Pick<EffectiveRetention, 'days'>, nowMs: number): number | undefined =>
  days === undefined ? undefined : nowMs - days * DAY_MS

/** The day before which everything has expired: events are removed by whole UTC days, that of the cutoff not yet. */
export const expiredBeforeDay = (cutoffMs: number): number => Math.floor(cutoffMs / DAY_MS)

/** When the day of the oldest event is removed, and the time before which events go with it; undefined if never. */
export function nextRemoval(oldestMs: number, { days }: Pick<EffectiveRetention, 'days'>): { atMs: number; beforeMs: number } | undefined {
  if (days === undefined) return undefined
  const beforeMs = (Math.floor(oldestMs / DAY_MS) + 1) * DAY_MS
  return { atMs: beforeMs + days * DAY_MS, beforeMs }
}

/** The last reading of the clock, and since when it has advanced without a jump. `jumpMs` is the size of the last jump. */
export type ClockReading = { seenMs: number; steadySinceMs: number; jumpMs?: number | undefined }

/** How far the clock may have advanced since the last reading; a larger step may be a wrong setting that is corrected later. */
export const JUMP_MS = 24 * HOUR_MS
/** How long the clock must advance steadily before expired events are removed; after a longer jump, a tenth of that jump. */
export const STEADY_MS = 2 * HOUR_MS
const AGREE_MAX_MS = 7 * DAY_MS
const AGREE_SHARE = 0.1
/** The backward step of a small clock correction; clocks of processes may also differ by that much. */
const BACK_MS = 60_000

/**
 * Takes a reading. Expired events are removed only if readings over hours agree, and the longer the larger the jump was. While the known clocks
 * disagree, nothing is removed.
 */
export function readClock(
  before: ClockReading | undefined,
  nowMs: number,
  report?: ClockReport,
): { reading: ClockReading; isTrusted: boolean } {
  const passedMs = before ? nowMs - before.seenMs : 0
  const isSet = before !== undefined && report?.lastStep !== undefined && report.lastStep.atMs > before.seenMs
  const isSteady = before !== undefined && !isSet && passedMs >= -BACK_MS && passedMs <= JUMP_MS
  const kept =
    before && isSteady ? { steadySinceMs: before.steadySinceMs, jumpMs: before.jumpMs } : { steadySinceMs: nowMs, jumpMs: passedMs }
  const reading = { seenMs: nowMs, ...kept }
  return { reading, isTrusted: report?.problem === undefined && isAgreed(reading) }
}

/** True if readings have agreed for long enough. */
export const isAgreed = ({ seenMs, steadySinceMs, jumpMs = 0 }: ClockReading): boolean =>
  seenMs - steadySinceMs >= Math.min(AGREE_MAX_MS, Math.max(STEADY_MS, Math.abs(jumpMs) * AGREE_SHARE))

/** Parses the reading stored in the payload of a job; anything else counts as none. */
export function readingOf(kept: unknown): ClockReading | undefined {
  const found = clockReadingSchema.safeParse(kept)
  return found.success ? found.data : undefined
}
export const clockReadingSchema = z.object({ seenMs: z.number(), steadySinceMs: z.number(), jumpMs: z.number().optional() })
