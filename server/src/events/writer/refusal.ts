import { ClickHouseError } from '@clickhouse/client'

/**
 * A Refusal is what a failed insert means:
 * - `content`: the store read the bytes and will never take them
 * - `strange`: the store refused them for a reason that may or may not lie in them, such as memory
 * - `trouble`: nothing was stored, for want of space or quorum; callers should come again
 * - `sync`: the disk did not take what was written, and may have lost more than that
 * - `unknown`: it may be stored, or be stored yet
 */
export type Refusal = 'content' | 'strange' | 'trouble' | 'sync' | 'unknown'

const CANNOT_FSYNC = 204

const CONTENT: ReadonlySet<number> = new Set([
  6, 7, 11, 12, 15, 16, 25, 26, 27, 33, 38, 41, 50, 53, 62, 69, 70, 72, 117, 128, 131, 169, 170, 190, 248, 321, 376, 377, 455, 467, 691,
  728,
])
/** TROUBLE: files that cannot be written, read only, too busy, no space, too many parts, too few replicas. */
const TROUBLE: ReadonlySet<number> = new Set([75, 164, 202, 242, 243, 252, 285, 294, 364])
/** UNKNOWN: time-outs, lost connections, logins of an engine that was restarted meanwhile, quorum and keeper, cancelled and ended queries. */
const UNKNOWN: ReadonlySet<number> = new Set([
  95, 96, 159, 192, 193, 194, 209, 210, 225, 236, 286, 319, 373, 394, 516, 677, 696, 735, 999, 1002,
])

/** judge reads a failed insert. Whatever is not an answer of the store is a lost connection, and those are never a refusal. */
export function judge(cause: unknown): Refusal {
  if (!(cause instanceof ClickHouseError)) return 'unknown'
  const code = Number(cause.code)
  if (code === CANNOT_FSYNC || /\bCannot f(data)?sync|errno: 5,/i.test(cause.message)) return 'sync'
  if (/errno: (28|122),/.test(cause.message)) return 'trouble'
  if (CONTENT.has(code)) return 'content'
  if (TROUBLE.has(code)) return 'trouble'
  return UNKNOWN.has(code) ? 'unknown' : 'strange'
}
