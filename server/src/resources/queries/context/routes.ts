import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findContext } from './context.ts'

export const contextRoutes = (world: World): Routes =>
  routes('context', contract.context, { get: ({ actor, query, signal }) => findContext(world, actor, query, signal) })
