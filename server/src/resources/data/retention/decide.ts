import type { Retention, RetentionEntity } from '@dendro/api'
import { z } from 'zod'
import type { ClockReport } from '../../../kernel/clock.ts'

const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** daysOf is what each retention means in days. */
export const daysOf = {
  DAYS_30: 30,
  DAYS_90: 90,
  DAYS_180: 180,
  DAYS_365: 365,
  DAYS_548: 548,
  DAYS_730: 730,
} as const satisfies Record<Retention, number>

/** RetentionRules are all that may decide about a dataset besides its own retention. `deploymentDays` is undefined where events are kept for ever. */
export type RetentionRules = {
  collections: ReadonlyMap<string, Retention>
  organisation: Retention | undefined
  deploymentDays: number | undefined
}

/** An EffectiveRetention is how long events of a dataset are kept, for ever without days, and which rule says so. */
export type EffectiveRetention = { days: number | undefined; by: RetentionEntity | 'DEPLOYMENT' }

/** AUDIT_COLLECTION holds the events of the audit trail, which is kept for ever: they are never gone before their records. */
export const AUDIT_COLLECTION = '.audit-trail'

/** effectiveRetention lets the most specific rule win. */
export function effectiveRetention(
  dataset: { collection: string; retention: Retention | null },
  rules: RetentionRules,
): EffectiveRetention {
  if (dataset.collection === AUDIT_COLLECTION) return { days: undefined, by: 'DEPLOYMENT' }
  if (dataset.retention) return { days: daysOf[dataset.retention], by: 'LOG' }
  const ofCollection = rules.collections.get(dataset.collection)
  if (ofCollection) return { days: daysOf[ofCollection], by: 'LOG_SET' }
  if (rules.organisation) return { days: daysOf[rules.organisation], by: 'ORGANISATION' }
  return { days: rules.deploymentDays, by: 'DEPLOYMENT' }
}

/** retentionCutoffMs is the time before which events are not found any more; undefined when all are. */
export const retentionCutoffMs = ({ days }: Pick<EffectiveRetention, 'days'>, nowMs: number): number | undefined =>
  days === undefined ? undefined : nowMs - days * DAY_MS

/** expiredBeforeDay is the day before which all is old: days of UTC are removed as a whole, the one of the cutoff not yet. */
export const expiredBeforeDay = (cutoffMs: number): number => Math.floor(cutoffMs / DAY_MS)

/** nextRemoval says when the day of the oldest event goes, and before which time all events go with it; undefined when nothing ever goes. */
export function nextRemoval(oldestMs: number, { days }: Pick<EffectiveRetention, 'days'>): { atMs: number; beforeMs: number } | undefined {
  if (days === undefined) return undefined
  const beforeMs = (Math.floor(oldestMs / DAY_MS) + 1) * DAY_MS
  return { atMs: beforeMs + days * DAY_MS, beforeMs }
}

/**
 * A ClockReading is when the clock was read last, and since when it has gone on without a jump. `jumpMs` is how far it jumped then, where it did.
 */
export type ClockReading = { seenMs: number; steadySinceMs: number; jumpMs?: number | undefined }

/** JUMP_MS is how far the clock may have come since the last reading; beyond that it may have been set, and may be set back. */
export const JUMP_MS = 24 * HOUR_MS
/** AGREE_MS is how long it must go on steadily before anything is removed for its age; after a longer jump it is a tenth of that. */
export const AGREE_MS = 2 * HOUR_MS
const AGREE_MAX_MS = 7 * DAY_MS
const AGREE_SHARE = 0.1
/** BACK_MS is how far a clock goes back when it is set right by a little; several processes may also differ by as much. */
const BACK_MS = 60_000

/**
 * readClock takes a reading. Nothing is removed for its age unless readings that lie hours apart agree: the further the clock jumped, the longer. While
 * the clocks that the process knows disagree, nothing is removed at all.
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

/** isAgreed says that readings agree for long enough. */
export const isAgreed = ({ seenMs, steadySinceMs, jumpMs = 0 }: ClockReading): boolean =>
  seenMs - steadySinceMs >= Math.min(AGREE_MAX_MS, Math.max(AGREE_MS, Math.abs(jumpMs) * AGREE_SHARE))

/** readingOf understands a reading as the payload of a job keeps it; anything else counts as none. */
export function readingOf(kept: unknown): ClockReading | undefined {
  const found = clockReadingSchema.safeParse(kept)
  return found.success ? found.data : undefined
}
export const clockReadingSchema = z.object({ seenMs: z.number(), steadySinceMs: z.number(), jumpMs: z.number().optional() })
