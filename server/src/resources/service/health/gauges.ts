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
  const children = { events: world.events.engine, meta: world.meta.server }
  for (const [name, child] of Object.entries(children)) {
    if (!child) continue
    meter.gauge(`dendro_${name}_store_restarts`, `How often the ${name} store was started again`, () => {
      const state = child.state()
      return state.kind === 'up' || state.kind === 'down' ? state.restarts : 0
    })
  }
}
