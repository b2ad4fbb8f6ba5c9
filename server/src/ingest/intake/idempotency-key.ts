import { createHash } from 'node:crypto'
import type { Actor } from '../../http/actor.ts'

/** The idempotency key of a request, scoped to its credential. */
export function idempotencyKeyOf(
  actor: Actor,
  receiver: string,
  header: string | undefined,
  fromBody: string | undefined,
): string | undefined {
  const own = header?.trim() ? ['header', header.trim()] : fromBody === undefined ? undefined : [receiver, fromBody]
  return own && [actor.orgId, actor.identity.id, ...own].join('\0')
}

/** The key for one dataset of a request, as the store keeps it: 64 bits, 0 for none. */
export function idempotencyNumber(identity: string | undefined, logId: string): bigint {
  if (identity === undefined) return 0n
  return createHash('sha256').update(`${logId}\0${identity}`).digest().readBigUInt64LE() || 1n
}
