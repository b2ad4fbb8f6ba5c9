import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createDataset, findDataset, latestArrivals, listDatasets, removeDataset, shownDataset, updateDataset } from './datasets.ts'

const byDatasetId =
  (world: World) =>
  ({ actor, params }: RecordPath<'datasetId'>) =>
    findDataset(world, actor, params.datasetId)

export const datasetRoutes = (world: World): Routes =>
  routes('datasets', contract.datasets, {
    list: ({ actor, query }) => listDatasets(world, actor, query),
    create: async ({ actor, body }) => shownDataset(await createDataset(world, actor, body)),
    get: onRecord(byDatasetId(world), async ({ actor, record }) => shownDataset(record, await latestArrivals(world, actor.orgId))),
    update: onRecord(byDatasetId(world), async ({ actor, record, body }) =>
      shownDataset(await updateDataset(world, actor, record.id, body)),
    ),
    remove: onRecord(byDatasetId(world), ({ actor, record }) => removeDataset(world, actor, record)),
  })
