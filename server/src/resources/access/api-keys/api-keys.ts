import type { ApiKey, BodyOf, contract, KeyQueryBudget, QueryOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { byName, type NextPage, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import { createRecord, modifiedBy } from '../../records.ts'
import { type AuditActor, recordChange } from '../audit/audit.ts'
import { checkGrant, limitOfRoles, lockRolesForGrant } from '../roles/roles.ts'
import { keyAt, newSecret, shownKey } from './key-record.ts'
import { checkExpiry, checkedAddresses, draftKey, expiryOf, storedRoles } from './new-key.ts'
import { checkNotPersonal } from './rotation.ts'
import {
  type ApiKeyRow,
  deleteApiKey,
  hasAdmin,
  insertApiKey,
  lockAdminKeys,
  lockApiKey,
  selectApiKey,
  selectApiKeys,
  selectKeyUse,
  selectKeyUses,
  updateApiKeyRow,
} from './rows.ts'

export { ApiKeyCallers, isExpired, ownerOfKey } from './callers.ts'
export { createPersonalKey, findPersonalKey, listPersonalKeys, removePersonalKey, rotatePersonalKey } from './personal-keys.ts'
export { endPreviousSecret, endPreviousSecretOf, rotateApiKey } from './rotation.ts'
export { resumePersonalKeys, suspendPersonalKeys } from './rows.ts'
export { ApiKeyUses } from './uses.ts'

type ApiKeyQuery = QueryOf<typeof contract.apiKeys.list>
type NewApiKey = BodyOf<typeof contract.apiKeys.create>
type ApiKeyChange = BodyOf<typeof contract.apiKeys.update>

const ADMIN = 'AdminApi'

export async function listApiKeys(world: World, actor: Actor, query: ApiKeyQuery): Promise<NextPage & { api_keys: ApiKey[] }> {
  const { meta } = world
  const { role } = query
  const all = withIds(await meta.cached(actor.orgId, 'api-keys', () => selectApiKeys(meta, actor.orgId)), query.api_key_ids)
  const nowMs = world.clock.nowMs()
  const some = role === undefined ? all : all.filter((row) => keyAt(row, undefined, nowMs).roles.includes(role))
  const found = searched(some, query.search, ({ name, tags }) => searchedText([name], tags))
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byKeyName : undefined)
  const ids = query.limit === undefined ? undefined : rows.map(({ id }) => id)
  const uses = await selectKeyUses(meta, actor.orgId, ids)
  const useOf = new Map(uses.map((use) => [use.api_key_id, use]))
  return { api_keys: rows.map((row) => keyAt(row, useOf.get(row.id), nowMs)), ...rest }
}

const byKeyName = byName(({ name }: ApiKeyRow) => [name])

export async function findApiKey(world: World, actor: Actor, id: string): Promise<ApiKeyRow> {
  const row = await selectApiKey(world.meta, actor.orgId, id)
  if (!row) throw notFound('API key', id)
  return row
}

/** Reports whether a key still exists. */
export const apiKeyExists = async ({ meta }: Pick<World, 'meta'>, orgId: string, id: string): Promise<boolean> =>
  (await selectApiKey(meta, orgId, id)) !== undefined

export const getApiKey = async ({ meta, clock }: Pick<World, 'meta' | 'clock'>, row: ApiKeyRow): Promise<ApiKey> =>
  keyAt(row, await selectKeyUse(meta, row.org_id, row.id), clock.nowMs())

/** Creates a key. The secret is returned only here; the store has its keyed hash. */
export async function createApiKey(world: World, actor: Actor, request: NewApiKey): Promise<ApiKey & { key: string }> {
  await checkGrant(world, actor, 'API', request.roles)
  const roles = storedRoles(request.roles)
  checkBudget(world, roles, request.query_budget)
  const nowMs = world.clock.nowMs()
  const expiresAt = expiryOf(request, nowMs)
  const secret = newSecret(world)
  const row: ApiKeyRow = {
    ...draftKey(world, actor.orgId, { name: request.name, roles, secret }),
    tags: request.tags,
    allowed_in_address: request.allowed_in_address,
    query_budget: request.query_budget ?? {},
    event_defaults: request.event_defaults ?? {},
    allowed_addresses: checkedAddresses(request.allowed_addresses),
    expires_at: expiresAt ?? null,
    created_by: actor.identity,
    modified_by: actor.identity,
  }
  const kind = { entity: 'api_key', insert: insertApiKey, shown: shownKey }
  await createRecord(world, actor, kind, row, (tx) => lockRolesForGrant(tx, actor.orgId, row.roles))
  return { ...keyAt(row, undefined, nowMs), key: secret.reveal() }
}

export async function updateApiKey(world: World, actor: Actor, record: ApiKeyRow, change: ApiKeyChange): Promise<ApiKey> {
  if (Object.values(change).every((value) => value === undefined)) return getApiKey(world, record)
  checkNotPersonal(record)
  if (change.roles) await checkGrant(world, actor, 'API', change.roles)
  const roles = change.roles && storedRoles(change.roles)
  const changed = await world.meta.write(actor.orgId, async (tx) => {
    if (roles) await lockRolesForGrant(tx, actor.orgId, roles)
    // This locks all keys of administrators in one order, so it comes before the lock of a single key.
    const endsAdmin =
      (roles && !roles.includes(ADMIN)) || (typeof change.expires_at === 'number' && change.expires_at !== record.expires_at)
    if (endsAdmin) await checkAdminRemains(world, tx, record)
    const before = await lockApiKey(tx, actor.orgId, record.id)
    if (!before) throw notFound('API key', record.id)
    const next = { ...changedBy(before, { ...change, roles }), ...modifiedBy(actor, world.clock.nowMs()) }
    checkBudget(world, next.roles, change.query_budget)
    checkExpiry(next.expires_at === before.expires_at ? undefined : next.expires_at, next.modified_at)
    await updateApiKeyRow(tx, next)
    await recordChange(world, tx, actor, { entity: { type: 'api_key', id: record.id }, before: shownKey(before), after: shownKey(next) })
    return next
  })
  return getApiKey(world, changed)
}

const changedBy = (before: ApiKeyRow, change: ApiKeyChange): ApiKeyRow => ({
  ...before,
  name: change.name ?? before.name,
  roles: change.roles ?? before.roles,
  tags: change.tags ?? before.tags,
  expires_at: change.expires_at === undefined ? before.expires_at : change.expires_at,
  allowed_in_address: change.allowed_in_address ?? before.allowed_in_address,
  query_budget: change.query_budget === undefined ? before.query_budget : (change.query_budget ?? {}),
  event_defaults: change.event_defaults === undefined ? before.event_defaults : (change.event_defaults ?? {}),
  allowed_addresses: change.allowed_addresses ? checkedAddresses(change.allowed_addresses) : before.allowed_addresses,
})

export async function removeApiKey(world: World, actor: Actor, record: ApiKeyRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    await checkAdminRemains(world, tx, record)
    if ((await deleteApiKey(tx, actor.orgId, record.id)) === 0) throw notFound('API key', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'api_key', id: record.id }, before: shownKey(record) })
  })
}

/**
 * Refuses to remove the last key of an administrator, unless an administrator can log in. A key that expires does not count: the last one without
 * expiry stays.
 */
async function checkAdminRemains(world: Pick<World, 'clock'>, tx: Db, { org_id, id }: ApiKeyRow): Promise<void> {
  const admins = await lockAdminKeys(tx, org_id, world.clock.nowMs())
  const isLast = (keys: readonly { id: string }[]): boolean => keys.length === 1 && keys[0]?.id === id
  if (!isLast(admins) && !isLast(admins.filter(({ expires_at }) => expires_at === null))) return
  if (await hasAdmin(tx, org_id)) return
  throw conflict(
    'the last lasting AdminApi key of an organization without an Administrator who can log in can neither be deleted nor lose the role',
  )
}

type KeyWorld = Pick<World, 'clock' | 'ids' | 'vault'>

/** Stores the first key of an organization, in the transaction that creates the organization. */
export async function bootstrapKey(world: KeyWorld, tx: Db, orgId: string, given: Secret | undefined): Promise<Secret> {
  const secret = given ?? newSecret(world)
  await insertApiKey(tx, draftKey(world, orgId, { name: 'First key', roles: [ADMIN], secret }))
  return secret
}

/** Creates another administrator key for an organization. `who` is the person with access to the machine. */
export async function recoveryKey(world: KeyWorld, tx: Db, who: AuditActor): Promise<Secret> {
  const secret = newSecret(world)
  const row = draftKey(world, who.orgId, { name: 'Recovery key', roles: [ADMIN], secret })
  await insertApiKey(tx, row)
  await recordChange(world, tx, who, { entity: { type: 'api_key', id: row.id }, after: shownKey(row) })
  return secret
}

/** Refuses limits above those of the roles, which would have no effect. */
function checkBudget({ deployment }: Pick<World, 'deployment'>, roles: readonly string[], budget: KeyQueryBudget | null | undefined): void {
  const { queryLimits, queryBounds } = deployment
  const limits = {
    seconds: queryLimits.seconds,
    bytes: queryLimits.bytes,
    rows: queryLimits.rows,
    running: queryBounds.runningPerCredential,
    waiting: queryBounds.waitingPerCredential,
  } as const satisfies Record<keyof KeyQueryBudget, unknown>
  for (const [name, limit] of Object.entries(limits)) {
    const most = limitOfRoles(limit, roles)
    if ((budget?.[name as keyof KeyQueryBudget] ?? 0) > most)
      throw badField(`query_budget.${name}`, `must be at most ${most}, the limit of its roles`)
  }
}
