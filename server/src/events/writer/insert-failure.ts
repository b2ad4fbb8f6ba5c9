import { ClickHouseError } from '@clickhouse/client'

/**
 * The meaning of a failed insert:
 * - `content`: the store rejects these bytes permanently
 * - `ambiguous`: the store rejected them, and the cause may or may not be the bytes (memory, for example)
 * - `unavailable`: nothing was stored for lack of space or quorum; callers should retry
 * - `sync`: the disk failed to sync, and may have lost more than this insert
 * - `unknown`: it may be stored, now or later
 */
export type InsertFailureKind = 'content' | 'ambiguous' | 'unavailable' | 'sync' | 'unknown'

const CANNOT_FSYNC = 204

const CONTENT: ReadonlySet<number> = new Set([
  6, 7, 11, 12, 15, 16, 25, 26, 27, 33, 38, 41, 50, 53, 62, 69, 70, 72, 117, 128, 131, 169, 170, 190, 248, 321, 376, 377, 455, 467, 691,
  728,
])
/** Files that cannot be written, read-only mode, overload, no space, too many parts, too few replicas. */
const UNAVAILABLE: ReadonlySet<number> = new Set([75, 164, 202, 242, 243, 252, 285, 294, 364])
/** Timeouts, lost connections, logins of a restarted engine, quorum and Keeper, canceled queries. */
const UNKNOWN: ReadonlySet<number> = new Set([
  95, 96, 159, 192, 193, 194, 209, 210, 225, 236, 286, 319, 373, 394, 516, 677, 696, 735, 999, 1002,
])

/** Classifies a failed insert. Errors that are not ClickHouse responses are lost connections, so the outcome is unknown. */
export function classifyInsertFailure(cause: unknown): InsertFailureKind {
  if (!(cause instanceof ClickHouseError)) return 'unknown'
  const code = Number(cause.code)
  if (code === CANNOT_FSYNC || /\bCannot f(data)?sync|errno: 5,/i.test(cause.message)) return 'sync'
  if (/errno: (28|122),/.test(cause.message)) return 'unavailable'
  if (CONTENT.has(code)) return 'content'
  if (UNAVAILABLE.has(code)) return 'unavailable'
  return UNKNOWN.has(code) ? 'unknown' : 'ambiguous'
}
