import type { ApiKey, BodyOf, contract } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { modifiedBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { checkGrant } from '../roles/roles.ts'
import { isExpired } from './callers.ts'
import { hashOfKey, keyAt, newSecret, shownKey } from './key-record.ts'
import { type ApiKeyRow, clearPreviousUse, lockApiKey, selectKeyUse, updateKeySecrets } from './rows.ts'

type Rotation = BodyOf<typeof contract.apiKeys.rotate>

/** Gives a key another secret. Whoever learns it has the permissions of the key, so the caller must hold them. */
export async function rotateApiKey(world: World, actor: Actor, record: ApiKeyRow, ask: Rotation): Promise<ApiKey & { key: string }> {
  checkNotPersonal(record)
  await checkGrant(world, actor, 'API', record.roles)
  return replaceSecret(world, actor, record, ask)
}

/** Only its user may change a personal key or have its secret: whoever has that acts as the user. */
export function checkNotPersonal({ user_id }: ApiKeyRow): void {
  if (user_id !== null) throw forbidden('only its user may change a personal key; others can delete it')
}

/** Gives a key another secret, for callers who may have it. */
export async function replaceSecret(
  world: World,
  actor: Actor,
  { id, user_id }: ApiKeyRow,
  { overlap, end_previous }: Rotation,
): Promise<ApiKey & { key: string }> {
  const secret = newSecret(world, user_id === null ? 'organization' : 'personal')
  const row = await world.meta.write(actor.orgId, async (tx) => {
    const before = await lockApiKey(tx, actor.orgId, id)
    if (!before) throw notFound('API key', id)
    const nowMs = world.clock.nowMs()
    if (isExpired(before.expires_at, nowMs)) throw conflict('the key has expired; give it a later expires_at before its rotation')
    if (hasPrevious(before, nowMs) && !end_previous)
      throw conflict('the secret before the previous rotation still works; end_previous ends it at once')
    const previous = overlap === 0 ? undefined : { hash: before.secret_hash, expires_at: Math.floor(nowMs / 1000) + overlap }
    const next: ApiKeyRow = {
      ...before,
      secret_hash: hashOfKey(world, secret),
      previous_hash: previous?.hash ?? null,
      previous_expires_at: previous?.expires_at ?? null,
      ...modifiedBy(actor, nowMs),
    }
    await updateKeySecrets(tx, next)
    await clearPreviousUse(tx, actor.orgId, id)
    await recordChange(world, tx, actor, { entity: { type: 'api_key', id }, before: audited(before), after: audited(next) })
    return next
  })
  return { ...keyAt(row, await selectKeyUse(world.meta, row.org_id, row.id), world.clock.nowMs()), key: secret.reveal() }
}

export async function endPreviousSecret(world: World, actor: Actor, record: ApiKeyRow): Promise<undefined> {
  checkNotPersonal(record)
  return endPreviousSecretOf(world, actor, record)
}

/** Ends the previous secret of any key, also of a personal one. */
export async function endPreviousSecretOf(world: World, actor: Actor, { id }: ApiKeyRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const before = await lockApiKey(tx, actor.orgId, id)
    const nowMs = world.clock.nowMs()
    if (!before || !hasPrevious(before, nowMs)) throw notFound('previous secret of the API key', id)
    const next: ApiKeyRow = { ...before, previous_hash: null, previous_expires_at: null, ...modifiedBy(actor, nowMs) }
    await updateKeySecrets(tx, next)
    await recordChange(world, tx, actor, { entity: { type: 'api_key', id }, before: audited(before), after: audited(next) })
  })
}

const hasPrevious = (row: ApiKeyRow, nowMs: number): boolean => row.previous_hash !== null && !isExpired(row.previous_expires_at, nowMs)

const audited = (row: ApiKeyRow) => ({
  ...shownKey(row),
  ...(row.previous_expires_at === null ? {} : { previous_key_expires_at: row.previous_expires_at }),
})
