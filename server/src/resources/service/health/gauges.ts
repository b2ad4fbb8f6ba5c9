import type { TierSizes } from '../../../events/tiers/tiers.ts'
import type { Meter } from '../../../http/measure.ts'
import type { World } from '../../../world.ts'

/** Adds gauges about the stores. */
export function watchStores(world: World, meter: Meter): void {
  meter.gauge(
    'dendro_events_disk_free_bytes',
    'Free space on the disk of the event store',
    () => world.disk.space()?.freeBytes ?? Number.NaN,
  )
  meter.gauge('dendro_events_disk_total_bytes', 'Size of the disk of the event store', () => world.disk.space()?.totalBytes ?? Number.NaN)
  const { cold } = world
  if (cold) {
    meter.gauges('dendro_events_tier_bytes', 'Compressed bytes of the events on the disk (hot) and in cold storage', ['tier'], async () =>
      Object.entries(await cold.sizes().catch(() => ({}) as Partial<TierSizes>)).map(([tier, { bytes }]) => ({
        labels: { tier },
        value: bytes,
      })),
    )
    meter.gauges('dendro_cold_storage_up', '1 when cold storage answers', [], async () => [
      { labels: {}, value: (await world.events.cold?.unavailableReason()) === undefined ? 1 : 0 },
    ])
  }
  const stores = { events: world.events, meta: world.meta }
  meter.gauges('dendro_store_up', '1 when the store answers', ['store'], () =>
    Object.entries(stores).map(([store, one]) => ({ labels: { store }, value: one.health().status === 'ok' ? 1 : 0 })),
  )
  const children = { events: world.events.engine, meta: world.meta.server }
  for (const [name, child] of Object.entries(children)) {
    if (!child) continue
    meter.gauge(`dendro_${name}_store_restarts`, `How often the ${name} store was started again`, () => {
      const state = child.state()
      return state.kind === 'up' || state.kind === 'down' ? state.restarts : 0
    })
  }
}
