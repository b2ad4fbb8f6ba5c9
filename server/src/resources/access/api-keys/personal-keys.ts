import type { ApiKey, BodyOf, contract } from '@dendro/api'
import { type Actor, sessionOf } from '../../../http/actor.ts'
import { badField, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { createdBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { lockRolesForGrant, unknownRoles } from '../roles/roles.ts'
import { keyAt, newSecret, shownKey } from './key-record.ts'
import { checkedAddresses, draftKey, expiryOf, storedRoles } from './new-key.ts'
import { replaceSecret } from './rotation.ts'
import { type ApiKeyRow, deleteApiKey, insertApiKey, lockUserForKeys, selectApiKey, selectKeysOfUser, selectKeyUses } from './rows.ts'

type NewPersonalKey = BodyOf<typeof contract.personalKeys.create>
type Rotation = BodyOf<typeof contract.personalKeys.rotate>

const KEYS_PER_USER_MAX = 50

export async function listPersonalKeys({ meta, clock }: World, actor: Actor): Promise<{ api_keys: ApiKey[] }> {
  const { userId } = sessionOf(actor)
  const [rows, uses] = await Promise.all([selectKeysOfUser(meta, actor.orgId, userId), selectKeyUses(meta, actor.orgId)])
  const useOf = new Map(uses.map((use) => [use.api_key_id, use]))
  return { api_keys: rows.map((row) => keyAt(row, useOf.get(row.id), clock.nowMs())) }
}

export async function findPersonalKey({ meta }: World, actor: Actor, id: string): Promise<ApiKeyRow> {
  const row = actor.sessionId === undefined ? undefined : await selectApiKey(meta, actor.orgId, id)
  if (row?.user_id !== actor.identity.id) throw notFound('personal API key', id)
  return row
}

/** Creates a key of the calling user. Its roles need no check against the permissions of the user, because they add none. */
export async function createPersonalKey(world: World, actor: Actor, request: NewPersonalKey): Promise<ApiKey & { key: string }> {
  const { userId } = sessionOf(actor)
  const [unknown] = await unknownRoles(world, actor.orgId, 'API', request.roles)
  if (unknown !== undefined) throw badField('roles', `must each be a role of API keys, not ${unknown.slice(0, 100)}`)
  const nowMs = world.clock.nowMs()
  const secret = newSecret(world, 'personal')
  const row: ApiKeyRow = {
    ...draftKey(world, actor.orgId, { name: request.name, roles: storedRoles(request.roles), secret }),
    user_id: userId,
    allowed_addresses: checkedAddresses(request.allowed_addresses),
    expires_at: expiryOf(request, nowMs) ?? null,
    ...createdBy(actor, nowMs),
  }
  await world.meta.write(actor.orgId, async (tx) => {
    const keys = await lockUserForKeys(tx, actor.orgId, userId)
    if (keys === undefined) throw forbidden('personal API keys are for users of the organization itself, not for guests')
    if (keys >= KEYS_PER_USER_MAX) throw conflict(`a user has at most ${KEYS_PER_USER_MAX} personal API keys`)
    await lockRolesForGrant(tx, actor.orgId, row.roles)
    await insertApiKey(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'api_key', id: row.id }, after: shownKey(row) })
  })
  return { ...keyAt(row, undefined, nowMs), key: secret.reveal() }
}

export const rotatePersonalKey = (world: World, actor: Actor, record: ApiKeyRow, ask: Rotation): Promise<ApiKey & { key: string }> =>
  replaceSecret(world, actor, record, ask)

export async function removePersonalKey(world: World, actor: Actor, record: ApiKeyRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteApiKey(tx, actor.orgId, record.id)) === 0) throw notFound('personal API key', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'api_key', id: record.id }, before: shownKey(record) })
  })
}
