import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import {
  createApiKey,
  createPersonalKey,
  endPreviousSecret,
  endPreviousSecretOf,
  findApiKey,
  findPersonalKey,
  getApiKey,
  listApiKeys,
  listPersonalKeys,
  removeApiKey,
  removePersonalKey,
  rotateApiKey,
  rotatePersonalKey,
  updateApiKey,
} from './api-keys.ts'

const byApiKeyId =
  (world: World) =>
  ({ actor, params }: RecordPath<'apiKeyId'>) =>
    findApiKey(world, actor, params.apiKeyId)

export const apiKeyRoutes = (world: World): Routes =>
  routes('apiKeys', contract.apiKeys, {
    list: ({ actor, query }) => listApiKeys(world, actor, query),
    create: ({ actor, body }) => createApiKey(world, actor, body),
    get: onRecord(byApiKeyId(world), ({ record }) => getApiKey(world, record)),
    update: onRecord(byApiKeyId(world), ({ actor, record, body }) => updateApiKey(world, actor, record, body)),
    rotate: onRecord(byApiKeyId(world), ({ actor, record, body }) => rotateApiKey(world, actor, record, body)),
    endPrevious: onRecord(byApiKeyId(world), ({ actor, record }) => endPreviousSecret(world, actor, record)),
    remove: onRecord(byApiKeyId(world), ({ actor, record }) => removeApiKey(world, actor, record)),
  })

export function personalKeyRoutes(world: World): Routes {
  const find = ({ actor, params }: RecordPath<'apiKeyId'>) => findPersonalKey(world, actor, params.apiKeyId)
  return routes('personalKeys', contract.personalKeys, {
    list: ({ actor }) => listPersonalKeys(world, actor),
    create: ({ actor, body }) => createPersonalKey(world, actor, body),
    rotate: onRecord(find, ({ actor, record, body }) => rotatePersonalKey(world, actor, record, body)),
    endPrevious: onRecord(find, ({ actor, record }) => endPreviousSecretOf(world, actor, record)),
    remove: onRecord(find, ({ actor, record }) => removePersonalKey(world, actor, record)),
  })
}
