import type { EncryptionKey, EncryptionKeyChange, NewEncryptionKey } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import {
  deleteEncryptionKey,
  type EncryptionKeyRow,
  insertEncryptionKey,
  lockEncryptionKey,
  selectEncryptionKeys,
  updateEncryptionKeyRow,
} from './rows.ts'

type Reader = Pick<World, 'meta'>

const allKeys = (world: Reader, orgId: string): Promise<readonly EncryptionKeyRow[]> =>
  world.meta.cached(orgId, 'encryption keys', () => selectEncryptionKeys(world.meta, orgId))

type EncryptionKeyQuery = { provider?: EncryptionKey['provider'] | undefined; limit: number }

export const listEncryptionKeys = async (world: Reader, actor: Actor, { provider, limit }: EncryptionKeyQuery): Promise<EncryptionKey[]> =>
  (await allKeys(world, actor.orgId))
    .filter((row) => provider === undefined || row.provider === provider)
    .slice(0, limit)
    .map(shownEncryptionKey)

export async function findEncryptionKey(world: Reader, actor: Actor, id: string): Promise<EncryptionKeyRow> {
  const row = (await allKeys(world, actor.orgId)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('encryption key', id)
  return row
}

export async function createEncryptionKey(world: World, actor: Actor, request: NewEncryptionKey): Promise<EncryptionKey> {
  const nowMs = world.clock.nowMs()
  const region = request.aws_kms.region ?? regionOf(request.aws_kms.alias_arn)
  const row: EncryptionKeyRow = {
    org_id: actor.orgId,
    id: request.id ?? world.ids.uuid(),
    name: request.name,
    provider: request.provider,
    status: 'CREATED',
    alias_arn: request.aws_kms.alias_arn,
    region: region ?? null,
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await insertEncryptionKey(tx, row)) === 0) throw conflict(`an encryption key with the id ${row.id} already exists`)
    await recordChange(world, tx, actor, { entity: { type: 'encryption_key', id: row.id }, after: shownEncryptionKey(row) })
  })
  return shownEncryptionKey(row)
}

/** The region in an ARN, if any. */
const regionOf = (arn: string): string | undefined => arn.split(':')[3] || undefined

export async function updateEncryptionKey(
  world: World,
  actor: Actor,
  record: EncryptionKeyRow,
  change: EncryptionKeyChange,
): Promise<EncryptionKey> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockEncryptionKey(tx, actor.orgId, record.id)
    if (!before) throw notFound('encryption key', record.id)
    const status = change.status ?? before.status
    if (status !== before.status && !(before.status === 'CREATED' && status === 'ACTIVE')) {
      throw badField('status', `cannot go from ${before.status} to ${status}; only a key that is CREATED can be made ACTIVE`)
    }
    const next = { ...before, name: change.name ?? before.name, status, modified_at: world.clock.nowMs(), modified_by: actor.identity }
    await updateEncryptionKeyRow(tx, next)
    const entity = { type: 'encryption_key', id: record.id }
    await recordChange(world, tx, actor, { entity, before: shownEncryptionKey(before), after: shownEncryptionKey(next) })
    return shownEncryptionKey(next)
  })
}

export async function removeEncryptionKey(world: World, actor: Actor, { id }: EncryptionKeyRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const before = await lockEncryptionKey(tx, actor.orgId, id)
    if (!before) throw notFound('encryption key', id)
    if (before.status !== 'CREATED') throw forbidden('only a key that was never made ACTIVE can be deleted')
    await deleteEncryptionKey(tx, actor.orgId, id)
    await recordChange(world, tx, actor, { entity: { type: 'encryption_key', id }, before: shownEncryptionKey(before) })
  })
}

export const shownEncryptionKey = (row: EncryptionKeyRow): EncryptionKey => ({
  id: row.id,
  org_id: row.org_id,
  name: row.name,
  provider: row.provider,
  status: row.status,
  aws_kms: { alias_arn: row.alias_arn, ...(row.region === null ? {} : { region: row.region }) },
})
