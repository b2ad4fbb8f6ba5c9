import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createSource, findSource, getSource, listSources, pauseSource, removeSource, testOrigin, updateSource } from './sources.ts'

export function sourceRoutes(world: World): Routes {
  const find = ({ actor, params }: RecordPath<'sourceId'>) => findSource(world, actor, params.sourceId)
  return routes('sources', contract.sources, {
    list: async ({ actor }) => ({ sources: await listSources(world, actor) }),
    create: ({ actor, body }) => createSource(world, actor, body),
    test: ({ actor, body }) => testOrigin(world, actor, body.origin),
    get: onRecord(find, ({ actor, record }) => getSource(world, actor, record)),
    update: onRecord(find, ({ actor, record, body }) => updateSource(world, actor, record, body)),
    pause: onRecord(find, ({ actor, record }) => pauseSource(world, actor, record, true)),
    resume: onRecord(find, ({ actor, record }) => pauseSource(world, actor, record, false)),
    remove: onRecord(find, ({ actor, record }) => removeSource(world, actor, record)),
  })
}
