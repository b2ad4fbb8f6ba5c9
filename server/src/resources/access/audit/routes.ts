import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { listAudit } from './trail.ts'

export const auditRoutes = (world: World): Routes =>
  routes('audit', contract.audit, {
    list: async ({ actor, query }) => ({ audit: await listAudit(world, actor, query) }),
  })
