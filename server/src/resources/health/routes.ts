import { contract } from '@dendro/api'
import { unavailable } from '../../errors.ts'
import { type Routes, routes } from '../../http/mount.ts'
import type { World } from '../../world.ts'
import { troublesOf } from './health.ts'

export const healthRoutes = (world: Pick<World, 'events' | 'meta' | 'deployment' | 'disk'>): Routes =>
  routes('health', contract.health, {
    get: async () => {
      const [trouble] = troublesOf(world)
      if (trouble !== undefined) throw unavailable(trouble, { retryAfterS: 1 })
      return {
        status: 'ok' as const,
        version: world.deployment.version,
        region: world.deployment.region,
        stores: { events: 'ok' as const, meta: 'ok' as const },
        disk: world.disk.state(),
      }
    },
  })
