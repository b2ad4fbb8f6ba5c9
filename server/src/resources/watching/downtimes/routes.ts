import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createDowntime, downtimeReply, findDowntime, listDowntimes, removeDowntime, updateDowntime } from './downtimes.ts'

const byDowntimeId =
  (world: World) =>
  ({ actor, params }: RecordPath<'downtimeId'>) =>
    findDowntime(world, actor, params.downtimeId)

export const downtimeRoutes = (world: World): Routes =>
  routes('downtimes', contract.downtimes, {
    list: ({ actor, query }) => listDowntimes(world, actor, query),
    create: ({ actor, body }) => createDowntime(world, actor, body),
    get: onRecord(byDowntimeId(world), async ({ record }) => downtimeReply(record)),
    update: onRecord(byDowntimeId(world), ({ actor, record, body }) => updateDowntime(world, actor, record, body)),
    remove: onRecord(byDowntimeId(world), ({ actor, record }) => removeDowntime(world, actor, record)),
  })
