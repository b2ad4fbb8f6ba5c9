import { createHash } from 'node:crypto'
import type { Actor } from '../../http/actor.ts'

/** identityOf names a post for as long as a repeat of it must be harmless; two credentials never share an identity. */
export function idempotencyKeyOf(
  actor: Actor,
  receiver: string,
  header: string | undefined,
  fromBody: string | undefined,
): string | undefined {
  const own = header?.trim() ? ['header', header.trim()] : fromBody === undefined ? undefined : [receiver, fromBody]
  return own && [actor.orgId, actor.identity.id, ...own].join('\0')
}

/** identityNumber is the identity of the part of a post that goes to one dataset, as the store keeps it: 64 bits, 0 for none. */
export function idempotencyNumber(identity: string | undefined, logId: string): bigint {
  if (identity === undefined) return 0n
  return createHash('sha256').update(`${logId}\0${identity}`).digest().readBigUInt64LE() || 1n
}
