import type { EncryptionKey, EncryptionKeyChange, NewEncryptionKey } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import {
  deleteEncryptionKey,
  type EncryptionKeyRow,
  insertEncryptionKey,
  lockEncryptionKey,
  selectEncryptionKeys,
  updateEncryptionKeyRow,
} from './rows.ts'

const allKeys = (world: MetaWorld, orgId: string): Promise<readonly EncryptionKeyRow[]> =>
  world.meta.cached(orgId, 'encryption keys', () => selectEncryptionKeys(world.meta, orgId))

type EncryptionKeyQuery = { provider?: EncryptionKey['provider'] | undefined; limit: number }

export const listEncryptionKeys = async (
  world: MetaWorld,
  actor: Actor,
  { provider, limit }: EncryptionKeyQuery,
): Promise<EncryptionKey[]> =>
  (await allKeys(world, actor.orgId))
    .filter((row) => provider === undefined || row.provider === provider)
    .slice(0, limit)
    .map(shownEncryptionKey)

export async function findEncryptionKey(world: MetaWorld, actor: Actor, id: string): Promise<EncryptionKeyRow> {
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
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, encryptionKeyRecords, row)
}

/** The region in an ARN, if any. */
const regionOf = (arn: string): string | undefined => arn.split(':')[3] || undefined

export const updateEncryptionKey = (
  world: World,
  actor: Actor,
  { id }: EncryptionKeyRow,
  change: EncryptionKeyChange,
): Promise<EncryptionKey> =>
  changeRecord(world, actor, encryptionKeyRecords, {
    id,
    change: (before) => {
      const status = change.status ?? before.status
      if (status !== before.status && !(before.status === 'CREATED' && status === 'ACTIVE')) {
        throw badField('status', `cannot go from ${before.status} to ${status}; only a key that is CREATED can be made ACTIVE`)
      }
      return { name: change.name ?? before.name, status }
    },
  })

export const removeEncryptionKey = (world: World, actor: Actor, record: EncryptionKeyRow): Promise<undefined> =>
  removeRecord(world, actor, encryptionKeyRecords, record, {
    check: ({ status }) => {
      if (status !== 'CREATED') throw forbidden('only a key that was never made ACTIVE can be deleted')
    },
  })

export const shownEncryptionKey = (row: EncryptionKeyRow): EncryptionKey => ({
  id: row.id,
  org_id: row.org_id,
  name: row.name,
  provider: row.provider,
  status: row.status,
  aws_kms: { alias_arn: row.alias_arn, ...(row.region === null ? {} : { region: row.region }) },
})

const encryptionKeyRecords: RecordKind<EncryptionKeyRow, EncryptionKey> = {
  noun: 'encryption key',
  entity: 'encryption_key',
  lock: lockEncryptionKey,
  insert: async (tx, row) => {
    if ((await insertEncryptionKey(tx, row)) === 0) throw conflict(`an encryption key with the id ${row.id} already exists`)
  },
  update: updateEncryptionKeyRow,
  remove: deleteEncryptionKey,
  shown: shownEncryptionKey,
}
