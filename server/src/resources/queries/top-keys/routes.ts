import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { sampleKeys } from './sample-keys.ts'
import { findTopKeys } from './top-keys.ts'

export const topKeyRoutes = (world: World): Routes =>
  routes('topKeys', contract.topKeys, {
    get: ({ actor, query, signal }) => findTopKeys(world, actor, query, signal),
    sample: ({ actor, body, signal }) => sampleKeys(world, actor, body, signal),
  })
