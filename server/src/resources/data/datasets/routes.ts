import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createDataset, findDataset, listDatasets, removeDataset, shownDataset, updateDataset } from './datasets.ts'

export const datasetRoutes = (world: World): Routes =>
  routes('datasets', contract.datasets, {
    list: ({ actor, query }) => listDatasets(world, actor, query),
    create: async ({ actor, body }) => shownDataset(await createDataset(world, actor, body)),
    get: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.datasetId),
      async ({ record }) => shownDataset(record),
    ),
    update: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.datasetId),
      async ({ actor, record, body }) => shownDataset(await updateDataset(world, actor, record.id, body)),
    ),
    remove: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.datasetId),
      ({ actor, record }) => removeDataset(world, actor, record),
    ),
  })
