import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { cancel, createRehydration, findRehydration, listFilesOf, listRehydrations, showRehydration } from './rehydrations.ts'

export function rehydrationRoutes(world: World): Routes {
  const find = ({ actor, params }: RecordPath<'rehydrationId'>) => findRehydration(world, actor, params.rehydrationId)
  return routes('rehydrations', contract.rehydrations, {
    list: async ({ actor }) => ({ rehydrations: await listRehydrations(world, actor) }),
    create: ({ actor, body }) => createRehydration(world, actor, body),
    get: onRecord(find, ({ record }) => showRehydration(world, record)),
    files: onRecord(find, async ({ record, query }) => ({ files: await listFilesOf(world, record, query.after) })),
    cancel: onRecord(find, ({ actor, record }) => cancel(world, actor, record)),
  })
}
