import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import {
  createEncryptionKey,
  findEncryptionKey,
  listEncryptionKeys,
  removeEncryptionKey,
  shownEncryptionKey,
  updateEncryptionKey,
} from './encryption-keys.ts'

export const encryptionKeyRoutes = (world: World): Routes =>
  routes('encryptionKeys', contract.encryptionKeys, {
    list: async ({ actor, query }) => ({ keys: await listEncryptionKeys(world, actor, query) }),
    create: ({ actor, body }) => createEncryptionKey(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findEncryptionKey(world, actor, params.keyId),
      async ({ record }) => shownEncryptionKey(record),
    ),
    update: onRecord(
      ({ actor, params }) => findEncryptionKey(world, actor, params.keyId),
      ({ actor, record, body }) => updateEncryptionKey(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findEncryptionKey(world, actor, params.keyId),
      ({ actor, record }) => removeEncryptionKey(world, actor, record),
    ),
  })
