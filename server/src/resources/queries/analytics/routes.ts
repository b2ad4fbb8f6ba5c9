import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { countErrors } from './analytics.ts'

export const analyticsRoutes = (world: World): Routes =>
  routes('analytics', contract.analytics, { errors: ({ actor, query, signal }) => countErrors(world, actor, query, signal) })
