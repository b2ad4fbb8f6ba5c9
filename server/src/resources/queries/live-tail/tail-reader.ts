import type { Actor } from '../../../http/actor.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { type EventNumber, readEvents, readNumbers } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { ALL_EVENTS, buildEventQuery, serviceBudget } from '../../data/event-queries/event-queries.ts'
import type { TailReader } from './tails.ts'

const READ_BOUND_MS = 10_000
const READ_EVENTS_MAX = 10_000
const NS_PER_MS = 1_000_000n

/**
 * Creates a reader for an organization. One read serves all of its tails, so it uses the service's budget instead of a role's, and reads events that only
 * some callers may see. Callers are charged for reads of the datasets that they tail.
 */
export function readerFor(world: World, actor: Actor, withFamilies: boolean): TailReader {
  const { orgId } = actor
  const queryOf = (datasets: Parameters<TailReader['events']>[0], bounds: TimeBounds) =>
    buildEventQuery(world, actor, {
      datasets,
      filter: ALL_EVENTS,
      bounds,
      signal: AbortSignal.timeout(READ_BOUND_MS),
      budget: serviceBudget(world),
      seen: () => undefined,
      reader: 'tail',
    })
  return {
    numbers: async (datasets, { after, oneOf, bounds }) => {
      const request = { after, oneOf, limit: READ_EVENTS_MAX }
      const { found, hasMore, cost } = await readNumbers(world.events, await queryOf(datasets, bounds), request)
      return { found, hasMore, bytes: cost.bytes }
    },
    events: async (datasets, numbers) => {
      const request = {
        limit: numbers.length,
        newestFirst: true,
        keys: 'all',
        withRaw: true,
        withFamilies,
        numbers: numbers.map(({ seq }) => seq),
      } as const
      const { events, cost } = await readEvents(world.events, await queryOf(datasets, boundsOf(numbers)), request)
      return { events, bytes: cost.bytes }
    },
    charge: (charges) => {
      for (const charge of charges) world.usage.note({ kind: 'search', orgId, ...charge, latencyMs: 0, isMore: true })
    },
  }
}

/** Returns the time range of some numbers. */
function boundsOf(numbers: readonly EventNumber[]): TimeBounds {
  let [first = 0n, last = 0n] = [numbers[0]?.timeNs, numbers[0]?.timeNs]
  for (const { timeNs } of numbers) {
    if (timeNs < first) first = timeNs
    if (timeNs > last) last = timeNs
  }
  return { fromMs: Number(first / NS_PER_MS), toMs: Number(last / NS_PER_MS) + 1 }
}
