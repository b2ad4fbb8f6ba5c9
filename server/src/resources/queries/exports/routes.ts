import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { downloadExport } from './download.ts'
import { createExport, exportReply, findExport, listExports, removeExport } from './exports.ts'

export const exportRoutes = (world: World): Routes =>
  routes('exports', contract.exports, {
    list: async ({ actor }) => ({ exports: await listExports(world, actor) }),
    create: ({ actor, body }) => createExport(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findExport(world, actor, params.exportId),
      async ({ actor, record }) => exportReply(world, actor, record),
    ),
    remove: onRecord(
      ({ actor, params }) => findExport(world, actor, params.exportId),
      ({ actor, record }) => removeExport(world, actor, record),
    ),
    download: ({ params, query, facts }) => downloadExport(world, facts, { id: params.exportId, ...query }),
  })
