import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createNotebook, findNotebook, listNotebooks, removeNotebook, shownNotebook, updateNotebook } from './notebooks.ts'

const byNotebookId =
  (world: World) =>
  ({ actor, params }: RecordPath<'notebookId'>) =>
    findNotebook(world, actor, params.notebookId)

export const notebookRoutes = (world: World): Routes =>
  routes('notebooks', contract.notebooks, {
    list: ({ actor, query }) => listNotebooks(world, actor, query),
    create: ({ actor, body }) => createNotebook(world, actor, body),
    get: onRecord(byNotebookId(world), async ({ record }) => shownNotebook(record)),
    update: onRecord(byNotebookId(world), ({ actor, record, body }) => updateNotebook(world, actor, record, body)),
    remove: onRecord(byNotebookId(world), ({ actor, record }) => removeNotebook(world, actor, record)),
  })
