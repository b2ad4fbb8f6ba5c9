import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import {
  createEncryptionKey,
  findEncryptionKey,
  listEncryptionKeys,
  removeEncryptionKey,
  shownEncryptionKey,
  updateEncryptionKey,
} from './encryption-keys.ts'

const byKeyId =
  (world: World) =>
  ({ actor, params }: RecordPath<'keyId'>) =>
    findEncryptionKey(world, actor, params.keyId)

export const encryptionKeyRoutes = (world: World): Routes =>
  routes('encryptionKeys', contract.encryptionKeys, {
    list: async ({ actor, query }) => ({ keys: await listEncryptionKeys(world, actor, query) }),
    create: ({ actor, body }) => createEncryptionKey(world, actor, body),
    get: onRecord(byKeyId(world), async ({ record }) => shownEncryptionKey(record)),
    update: onRecord(byKeyId(world), ({ actor, record, body }) => updateEncryptionKey(world, actor, record, body)),
    remove: onRecord(byKeyId(world), ({ actor, record }) => removeEncryptionKey(world, actor, record)),
  })
