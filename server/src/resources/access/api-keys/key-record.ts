import type { ApiKey } from '@dendro/api'
import { Secret } from '../../../kernel/secret.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import type { ApiKeyRow, KeyUse } from './rows.ts'

const SECRET_BYTES = 32
/** How long before its expiry a key is shown as expiring soon. */
const SOON_S = 14 * 86_400

const PREFIX = 'dk_'
const PERSONAL_PREFIX = 'dpk_'

export const newSecret = (world: Pick<World, 'ids'>, kind: 'organization' | 'personal' = 'organization'): Secret =>
  new Secret(`${kind === 'personal' ? PERSONAL_PREFIX : PREFIX}${world.ids.secret(SECRET_BYTES)}`)

/** The stored form of a secret. Versions without personal keys do not find these, and so never take one for a key of the organization. */
export const hashOfKey = ({ vault }: Pick<World, 'vault'>, secret: Secret): Buffer =>
  vault.hashOf(secret.reveal().startsWith(PERSONAL_PREFIX) ? 'personal-key' : 'api-key', secret)

/** A key with what depends on the time and on its use. */
export function keyAt(row: ApiKeyRow, use: KeyUse | undefined, nowMs: number): ApiKey {
  const nowS = nowMs / 1000
  const { expires_at, previous_expires_at } = row
  const hasPrevious = previous_expires_at !== null && previous_expires_at > nowS
  return {
    ...shownKey(row),
    ...(expires_at !== null && expires_at - nowS <= SOON_S && { expires_soon: true }),
    ...(hasPrevious && { previous_key_expires_at: previous_expires_at }),
    ...(use && { last_used_at: use.used_at }),
    ...(use && use.address !== null && { last_used_address: use.address }),
    ...(hasPrevious && use && use.previous_used_at !== null && { previous_key_used_at: use.previous_used_at }),
  }
}

/** A key as it is stored, without its secrets. */
export function shownKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    api_key: row.api_key,
    roles: row.roles,
    ...(row.user_id === null ? {} : { user_id: row.user_id }),
    ...(row.suspended_at === null ? {} : { is_suspended: true }),
    tags: row.tags,
    allowed_in_address: row.allowed_in_address,
    ...(row.expires_at === null ? {} : { expires_at: row.expires_at }),
    ...(Object.keys(row.query_budget).length === 0 ? {} : { query_budget: row.query_budget }),
    ...(Object.keys(row.event_defaults).length === 0 ? {} : { event_defaults: row.event_defaults }),
    ...(row.allowed_addresses.length === 0 ? {} : { allowed_addresses: row.allowed_addresses }),
    metadata: metadataOf(row),
  }
}
