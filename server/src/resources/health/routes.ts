import { contract } from '@dendro/api'
import { unavailable } from '../../errors.ts'
import { type Routes, routes } from '../../http/mount.ts'
import type { World } from '../../world.ts'

export const healthRoutes = (world: Pick<World, 'events' | 'meta' | 'deployment'>): Routes =>
  routes('health', contract.health, {
    get: async () => {
      const stores = { events: world.events.health(), meta: world.meta.health() }
      for (const [name, store] of Object.entries(stores)) {
        if (store.status !== 'ok') throw unavailable(`the ${name} store is ${store.status}: ${store.reason}`, { retryAfterS: 1 })
      }
      return {
        status: 'ok' as const,
        version: world.deployment.version,
        region: world.deployment.region,
        stores: { events: 'ok' as const, meta: 'ok' as const },
      }
    },
  })
