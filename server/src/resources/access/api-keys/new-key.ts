import { roleName } from '@dendro/api'
import { badField } from '../../../kernel/errors.ts'
import { isNetwork } from '../../../kernel/networks.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import { isExpired } from './callers.ts'
import { hashOfKey } from './key-record.ts'
import type { ApiKeyRow } from './rows.ts'

const SHORT_BYTES = 9

/** A key without an author or any limit. */
export function draftKey(
  world: Pick<World, 'clock' | 'ids' | 'vault'>,
  orgId: string,
  key: { name: string; roles: string[]; secret: Secret },
): ApiKeyRow {
  const nowMs = world.clock.nowMs()
  return {
    org_id: orgId,
    id: world.ids.uuid(),
    name: key.name,
    api_key: world.ids.secret(SHORT_BYTES),
    secret_hash: hashOfKey(world, key.secret),
    roles: key.roles,
    tags: {},
    allowed_in_address: false,
    expires_at: null,
    created_at: nowMs,
    created_by: null,
    modified_at: nowMs,
    modified_by: null,
    query_budget: {},
    event_defaults: {},
    allowed_addresses: [],
    previous_hash: null,
    previous_expires_at: null,
    suspended_at: null,
    user_id: null,
  }
}

/** The stored form of roles: normalized names, without duplicates. */
export const storedRoles = (roles: readonly string[]): string[] => [...new Set(roles.map(roleName))]

/** Refuses what is neither an address nor a network. */
export function checkedAddresses(addresses: readonly string[]): string[] {
  const wrong = addresses.findIndex((address) => !isNetwork(address))
  if (wrong >= 0)
    throw badField(`allowed_addresses.${wrong}`, 'must be an IPv4 or IPv6 address, or a network such as 10.0.0.0/8 or 2001:db8::/32')
  return [...new Set(addresses)]
}

/** The year 2286. A later value is in milliseconds by mistake, and the key would never expire. */
const EXPIRY_MAX_S = 9_999_999_999

export function expiryOf(request: { ttl?: number | undefined; expires_at?: number | undefined }, nowMs: number): number | undefined {
  if (request.ttl) return Math.floor(nowMs / 1000) + request.ttl
  checkExpiry(request.expires_at, nowMs)
  return request.expires_at
}

export function checkExpiry(expiresAt: number | null | undefined, nowMs: number): void {
  if (expiresAt === undefined || expiresAt === null) return
  if (isExpired(expiresAt, nowMs)) throw badField('expires_at', 'must be in the future')
  if (expiresAt > EXPIRY_MAX_S) throw badField('expires_at', 'must be in Unix seconds, not milliseconds')
}
