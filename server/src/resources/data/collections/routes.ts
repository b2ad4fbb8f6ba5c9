import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { listCollections } from './collections.ts'

export const collectionRoutes = (world: World): Routes =>
  routes('collections', contract.collections, {
    list: ({ actor }) => listCollections(world, actor),
  })
