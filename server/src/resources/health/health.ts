import type { World } from '../../world.ts'

/** troublesOf says in words what keeps the service from being well just now; nothing when both stores answer. */
export const troublesOf = (world: Pick<World, 'events' | 'meta'>): string[] =>
  Object.entries({ events: world.events.health(), meta: world.meta.health() }).flatMap(([name, store]) =>
    store.status === 'ok' ? [] : [`the ${name} store is ${store.status}: ${store.reason}`],
  )
