import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createDowntime, downtimeReply, findDowntime, listDowntimes, removeDowntime, updateDowntime } from './downtimes.ts'

export const downtimeRoutes = (world: World): Routes =>
  routes('downtimes', contract.downtimes, {
    list: async ({ actor }) => ({ downtimes: await listDowntimes(world, actor) }),
    create: ({ actor, body }) => createDowntime(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findDowntime(world, actor, params.downtimeId),
      async ({ record }) => downtimeReply(record),
    ),
    update: onRecord(
      ({ actor, params }) => findDowntime(world, actor, params.downtimeId),
      ({ actor, record, body }) => updateDowntime(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findDowntime(world, actor, params.downtimeId),
      ({ actor, record }) => removeDowntime(world, actor, record),
    ),
  })
