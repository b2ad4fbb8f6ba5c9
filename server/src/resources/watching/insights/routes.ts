import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findInsight, listInsights } from './insights.ts'

export const insightRoutes = (world: World): Routes =>
  routes('insights', contract.insights, {
    list: async ({ actor }) => ({ insights: await listInsights(world, actor) }),
    get: ({ actor, params }) => findInsight(world, actor, params.insightId),
  })
