import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import { unavailable } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import type { HealthChecks } from './health.ts'

export const healthRoutes = (world: Pick<World, 'deployment' | 'disk'>, health: HealthChecks, isStopping: () => boolean): Routes =>
  routes('health', contract.health, {
    get: async () => {
      const [failure] = await health.failures()
      if (failure !== undefined) throw unavailable(failure, { retryAfterS: 1 })
      const problems = await health.problems()
      return {
        status: problems.length === 0 ? ('ok' as const) : ('degraded' as const),
        problems,
        version: world.deployment.version,
        region: world.deployment.region,
        stores: { events: 'ok' as const, meta: 'ok' as const },
        disk: world.disk.state(),
      }
    },
    live: async () => ({ status: 'live' as const }),
    ready: async () => {
      if (isStopping()) throw unavailable('this process is about to stop')
      const [failure] = await health.failures()
      if (failure !== undefined) throw unavailable(failure, { retryAfterS: 1 })
      return { status: 'ready' as const }
    },
  })
