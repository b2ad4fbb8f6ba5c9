import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createConfig, findConfig, listConfigs, removeConfig, testDestination, updateConfig } from './forward-configs.ts'

export const forwardConfigRoutes = (world: World): Routes =>
  routes('forwardConfigs', contract.forwardConfigs, {
    list: async ({ actor }) => ({ 'forward-configs': await listConfigs(world, actor) }),
    create: ({ actor, body }) => createConfig(world, actor, body),
    test: ({ actor, body }) => testDestination(world, actor, body),
    update: onRecord(
      ({ actor, params }) => findConfig(world, actor, params.forwardId),
      ({ actor, record, body }) => updateConfig(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findConfig(world, actor, params.forwardId),
      ({ actor, record }) => removeConfig(world, actor, record),
    ),
  })
