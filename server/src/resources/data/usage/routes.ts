import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { logsUsage, organizationUsage, usersUsage } from './usage.ts'

export const usageRoutes = (world: World): Routes =>
  routes('usage', contract.usage, {
    organization: ({ actor, query }) => organizationUsage(world, actor, query),
    logs: ({ actor, query }) => logsUsage(world, actor, query),
    users: ({ actor, query }) => usersUsage(world, actor, query),
  })
