import type { Retention, RetentionEntity } from '@dendro/api'

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

/** Rules are all that may decide about a dataset besides its own retention. `deploymentDays` is undefined where events are kept for ever. */
export type Rules = {
  collections: ReadonlyMap<string, Retention>
  organisation: Retention | undefined
  deploymentDays: number | undefined
}

/** A Keeping is how long events of a dataset are kept, for ever without days, and which rule says so. */
export type Keeping = { days: number | undefined; by: RetentionEntity | 'DEPLOYMENT' }

/** AUDIT_COLLECTION holds the events of the audit trail, which is kept for ever: they are never gone before their records. */
export const AUDIT_COLLECTION = '.audit-trail'

/** keepingOf lets the most specific rule win. */
export function keepingOf(dataset: { collection: string; retention: Retention | null }, rules: Rules): Keeping {
  if (dataset.collection === AUDIT_COLLECTION) return { days: undefined, by: 'DEPLOYMENT' }
  if (dataset.retention) return { days: daysOf[dataset.retention], by: 'LOG' }
  const ofCollection = rules.collections.get(dataset.collection)
  if (ofCollection) return { days: daysOf[ofCollection], by: 'LOG_SET' }
  if (rules.organisation) return { days: daysOf[rules.organisation], by: 'ORGANISATION' }
  return { days: rules.deploymentDays, by: 'DEPLOYMENT' }
}

/** retentionCutoffMs is the time before which events are not found any more; undefined when all are. */
export const retentionCutoffMs = ({ days }: Pick<Keeping, 'days'>, nowMs: number): number | undefined =>
  days === undefined ? undefined : nowMs - days * DAY_MS

/** doomedBeforeDay is the day before which all is old: days of UTC are removed as a whole, the one of the cutoff not yet. */
export const doomedBeforeDay = (cutoffMs: number): number => Math.floor(cutoffMs / DAY_MS)

/** nextRemoval says when the day of the oldest event goes, and before which time all events go with it; undefined when nothing ever goes. */
export function nextRemoval(oldestMs: number, { days }: Pick<Keeping, 'days'>): { atMs: number; beforeMs: number } | undefined {
  if (days === undefined) return undefined
  const beforeMs = (Math.floor(oldestMs / DAY_MS) + 1) * DAY_MS
  return { atMs: beforeMs + days * DAY_MS, beforeMs }
}

/** A Reading is when the clock was looked at last, and since when it has gone on without a jump. */
export type Reading = { seenMs: number; steadySinceMs: number }

/** JUMP_MS is how far the clock may have come since the last look; beyond that it may have been set, and may be set back. */
export const JUMP_MS = 24 * 3_600_000
/** AGREE_MS is how long it must go on steadily before anything is removed for its age. */
export const AGREE_MS = 2 * HOUR_MS
/** BACK_MS is how far a clock goes back when it is set right by a little; several processes may also differ by as much. */
const BACK_MS = 60_000

/** readClock takes a reading. Nothing is removed for its age unless readings that lie hours apart agree. */
export function readClock(before: Reading | undefined, nowMs: number): { reading: Reading; isTrusted: boolean } {
  const passedMs = before ? nowMs - before.seenMs : Number.POSITIVE_INFINITY
  const isSteady = passedMs >= -BACK_MS && passedMs <= JUMP_MS
  const reading = { seenMs: nowMs, steadySinceMs: before && isSteady ? before.steadySinceMs : nowMs }
  return { reading, isTrusted: nowMs - reading.steadySinceMs >= AGREE_MS }
}
