import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { resolveDatasets } from './dataset-keys.ts'

export const datasetKeyRoutes = (world: World): Routes =>
  routes('datasetKeys', contract.datasetKeys, { resolve: ({ actor, body, signal }) => resolveDatasets(world, actor, body, signal) })
