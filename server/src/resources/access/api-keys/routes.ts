import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createApiKey, findApiKey, getApiKey, listApiKeys, removeApiKey, updateApiKey } from './api-keys.ts'

export const apiKeyRoutes = (world: World): Routes =>
  routes('apiKeys', contract.apiKeys, {
    list: ({ actor }) => listApiKeys(world, actor),
    create: ({ actor, body }) => createApiKey(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findApiKey(world, actor, params.apiKeyId),
      ({ record }) => getApiKey(record),
    ),
    update: onRecord(
      ({ actor, params }) => findApiKey(world, actor, params.apiKeyId),
      ({ actor, record, body }) => updateApiKey(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findApiKey(world, actor, params.apiKeyId),
      ({ actor, record }) => removeApiKey(world, actor, record),
    ),
  })
