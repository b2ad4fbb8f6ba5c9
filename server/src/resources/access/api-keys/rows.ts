import type { EventDefaults, Identity, KeyQueryBudget } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type ApiKeyRow = {
  org_id: string
  id: string
  name: string
  api_key: string
  secret_hash: Buffer
  roles: string[]
  /** The user of a personal key. */
  user_id: string | null
  tags: Record<string, string>
  allowed_in_address: boolean
  expires_at: number | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
  query_budget: KeyQueryBudget
  event_defaults: EventDefaults
  allowed_addresses: string[]
  /** The secret before the last rotation, and until when it works, in Unix seconds. */
  previous_hash: Buffer | null
  previous_expires_at: number | null
  /** When the identity provider refused the user of a personal key. */
  suspended_at: number | null
}

/** The last use of a key, and that of the secret before its rotation. */
export type KeyUse = { used_at: number; address: string | null; previous_used_at: number | null }

/** Returns when keys of the organization were used last, all or some. Keys that were never used are absent. */
export const selectKeyUses = (db: Db, orgId: string, ids?: readonly string[]) =>
  db.all<KeyUse & { api_key_id: string }>(sql`
    select api_key_id, used_at, address, previous_used_at from api_key_uses
    where org_id = ${orgId} ${ids === undefined ? sql`` : sql`and api_key_id = any(${ids})`}`)

export const selectKeyUse = (db: Db, orgId: string, id: string) =>
  db.one<KeyUse>(sql`select used_at, address, previous_used_at from api_key_uses where org_id = ${orgId} and api_key_id = ${id}`)

/** Ignores deleted keys; the last use never goes back in time. Rows are written in one order, so that writers cannot deadlock. */
export const upsertKeyUses = (db: Db, uses: readonly (KeyUse & { id: string })[]) =>
  db.run(sql`
    insert into api_key_uses as u (org_id, api_key_id, used_at, address, previous_used_at)
    select k.org_id, k.id, given.used_at, given.address, given.previous_used_at
    from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ used_at }) => used_at)}::bigint[], ${uses.map(({ address }) => address)}::text[],
      ${uses.map(({ previous_used_at }) => previous_used_at)}::bigint[]) as given (id, used_at, address, previous_used_at)
    join api_keys k on k.id = given.id
    order by k.id
    on conflict (api_key_id) do update set
      used_at = greatest(u.used_at, excluded.used_at),
      address = case when excluded.used_at >= u.used_at then excluded.address else u.address end,
      previous_used_at = greatest(u.previous_used_at, excluded.previous_used_at)
    where u.used_at < excluded.used_at or excluded.previous_used_at > coalesce(u.previous_used_at, 0)`)

/** Forgets when the previous secret was used: another one is the previous now. */
export const clearPreviousUse = (db: Db, orgId: string, id: string) =>
  db.run(sql`
    update api_key_uses set previous_used_at = null where org_id = ${orgId} and api_key_id = ${id} and previous_used_at is not null`)

export const selectApiKeys = (db: Db, orgId: string) =>
  db.all<ApiKeyRow>(sql`select * from api_keys where org_id = ${orgId} order by created_at desc, id`)

export const selectKeysOfUser = (db: Db, orgId: string, userId: string) =>
  db.all<ApiKeyRow>(sql`select * from api_keys where org_id = ${orgId} and user_id = ${userId} order by created_at desc, id`)

/** Suspends the personal keys of a user; in one order for all writers. */
export const suspendPersonalKeys = (db: Db, userId: string, nowMs: number) =>
  db.run(sql`
    update api_keys set suspended_at = ${nowMs} where id in (
      select id from api_keys where user_id = ${userId} and suspended_at is null order by id for update)`)

export const resumePersonalKeys = (db: Db, userId: string) =>
  db.run(sql`
    update api_keys set suspended_at = null where id in (
      select id from api_keys where user_id = ${userId} and suspended_at is not null order by id for update)`)

/** Counts the personal keys of a user, and lets no other transaction add one until the end of this one. */
export const lockUserForKeys = async (db: Db, orgId: string, userId: string): Promise<number | undefined> => {
  const user = await db.one(sql`select 1 from users where org_id = ${orgId} and id = ${userId} for no key update`)
  if (user === undefined) return undefined
  return (await db.one<{ keys: number }>(sql`select count(*)::int as keys from api_keys where org_id = ${orgId} and user_id = ${userId}`))
    ?.keys
}

export const selectApiKey = (db: Db, orgId: string, id: string) =>
  db.one<ApiKeyRow>(sql`select * from api_keys where org_id = ${orgId} and id = ${id}`)

export const lockApiKey = (db: Db, orgId: string, id: string) =>
  db.one<ApiKeyRow>(sql`select * from api_keys where org_id = ${orgId} and id = ${id} for update`)

export const selectApiKeyById = (db: Db, orgId: string, id: string) =>
  db.one<ApiKeyRow & { org_number: number }>(sql`
    select k.*, o.number as org_number from api_keys k join organisations o on o.id = k.org_id where k.org_id = ${orgId} and k.id = ${id}`)

/** Finds the owner of a key hash. The organization is not known yet. */
export const selectOwner = (db: Db, hash: Buffer) =>
  db.one<{ org_id: string; id: string; org_number: number }>(sql`
    select k.org_id, k.id, o.number as org_number from api_keys k join organisations o on o.id = k.org_id where k.secret_hash = ${hash} or k.previous_hash = ${hash}`)

export const selectApiKeyByHash = (db: Db, orgId: string, hash: Buffer) =>
  db.one<ApiKeyRow>(sql`
    select * from api_keys where org_id = ${orgId} and (secret_hash = ${hash} or previous_hash = ${hash})`)

export const insertApiKey = (db: Db, row: ApiKeyRow) =>
  db.run(sql`
    insert into api_keys (org_id, id, name, api_key, secret_hash, roles, tags, allowed_in_address, expires_at, created_at, created_by,
      modified_at, modified_by, query_budget, event_defaults, allowed_addresses, user_id)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.api_key}, ${row.secret_hash}, ${row.roles}, ${json(row.tags)},
      ${row.allowed_in_address}, ${row.expires_at}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)},
      ${json(row.query_budget)}, ${json(row.event_defaults)}, ${row.allowed_addresses}, ${row.user_id})`)

type ChangedKey = Pick<
  ApiKeyRow,
  | 'org_id'
  | 'id'
  | 'name'
  | 'roles'
  | 'tags'
  | 'expires_at'
  | 'allowed_in_address'
  | 'query_budget'
  | 'event_defaults'
  | 'allowed_addresses'
  | 'modified_at'
  | 'modified_by'
>
export const updateApiKeyRow = (db: Db, row: ChangedKey) =>
  db.run(sql`
    update api_keys set name = ${row.name}, roles = ${row.roles}, tags = ${json(row.tags)}, expires_at = ${row.expires_at}, allowed_in_address = ${row.allowed_in_address},
      query_budget = ${json(row.query_budget)}, event_defaults = ${json(row.event_defaults)}, allowed_addresses = ${row.allowed_addresses},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

type SecretsOfKey = Pick<
  ApiKeyRow,
  'org_id' | 'id' | 'secret_hash' | 'previous_hash' | 'previous_expires_at' | 'modified_at' | 'modified_by'
>
export const updateKeySecrets = (db: Db, row: SecretsOfKey) =>
  db.run(sql`
    update api_keys set secret_hash = ${row.secret_hash}, previous_hash = ${row.previous_hash}, previous_expires_at = ${row.previous_expires_at},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteApiKey = (db: Db, orgId: string, id: string) => db.run(sql`delete from api_keys where org_id = ${orgId} and id = ${id}`)

/** Locks the valid administrator keys until the end of the transaction: two requests that would together remove the last two run one after the other. */
export const lockAdminKeys = (db: Db, orgId: string, nowMs: number) =>
  db.all<Pick<ApiKeyRow, 'id' | 'expires_at'>>(sql`
    select id, expires_at from api_keys
    where org_id = ${orgId} and 'AdminApi' = any (roles) and user_id is null and (expires_at is null or expires_at * 1000 > ${nowMs}::bigint)
    order by id for update`)

/** True if an administrator can log in. The last administrator cannot be removed, so it stays true. */
export const hasAdmin = async (db: Db, orgId: string): Promise<boolean> =>
  (await db.one(sql`
    select 1 from users
    where org_id = ${orgId} and 'Admin' = any (roles) and status in ('ACTIVE', 'INACTIVE', 'MIGRATED')
      and login_methods @> '[{"name": "Password", "enabled": true}]'
    limit 1`)) !== undefined
