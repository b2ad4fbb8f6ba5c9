import { keptReading } from '../../../kernel/kept-reading.ts'
import type { World } from '../../../world.ts'
import { openStoreProbe } from './probe.ts'
import { selectOverdue } from './rows.ts'

export { watchStores } from './gauges.ts'

type HealthWorld = Pick<World, 'clock' | 'events' | 'meta' | 'log'>

/** Reports problems as text: `failures` prevent the service from working, `problems` need attention. */
export type HealthChecks = { failures(): Promise<string[]>; problems(): Promise<string[]> }

/** Twice the interval of evaluations. */
const OVERDUE_MS = 120_000
const OVERDUE_READ_EVERY_MS = 5_000

/** Checks the stores on demand, each at most once a second. */
export function openHealth(world: HealthWorld): HealthChecks {
  const { clock, events, meta } = world
  const stores = [
    { name: 'events', store: events, answers: openStoreProbe((signal) => events.ping(signal), clock) },
    { name: 'meta', store: meta, answers: openStoreProbe((signal) => meta.ping(signal), clock) },
  ]
  const overdue = openOverdue(world)
  return {
    failures: async () => {
      const found = await Promise.all(
        stores.map(async ({ name, store, answers }) => {
          const health = store.health()
          if (health.status !== 'ok') return `the ${name} store is ${health.status}: ${health.reason}`
          return (await answers()) ? undefined : `the ${name} store is down: it does not answer`
        }),
      )
      return found.filter((failure) => failure !== undefined)
    },
    problems: async () =>
      [clock.report?.().problem, await overdue(), await events.cold?.unavailableReason()].filter((problem) => problem !== undefined),
  }
}

/** Reports late evaluations of monitors; reads at most once in five seconds. */
function openOverdue({ clock, meta, log }: HealthWorld): () => Promise<string | undefined> {
  const read = async (): Promise<string | undefined> => {
    const nowMs = clock.nowMs()
    const row = await selectOverdue(meta, nowMs - OVERDUE_MS)
    if (!row || row.earliest === null) return undefined
    return `${row.monitors} monitors are overdue, by up to ${Math.round((nowMs - row.earliest) / 1_000)} s`
  }
  return keptReading(OVERDUE_READ_EVERY_MS, clock, () =>
    read().catch((err) => {
      log.debug({ err }, 'overdue monitors could not be counted')
      return 'it is not known whether monitors are overdue: the metadata store does not answer'
    }),
  )
}
