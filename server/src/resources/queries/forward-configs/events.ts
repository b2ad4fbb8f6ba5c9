import type { Identity } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { type Actor, factsOfWork } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventQuery, FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { countNumbers, type EventNumber, readEvents, readNumbersInOrder } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { callerOf } from '../../access/auth/auth.ts'
import { CANARY_COLLECTION, type DatasetRow, visibleDatasets } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, pageBudget } from '../../data/event-queries/event-queries.ts'
import type { ForwardConfigRow } from './rows.ts'

export type ForwardWorld = Pick<
  World,
  'clock' | 'log' | 'meta' | 'vault' | 'events' | 'writer' | 'deployment' | 'admission' | 'outgoing' | 'forwardBucket'
>

/** Numbers above `after` and below `before`. */
export type NumberRange = { readonly after: bigint; readonly before: bigint }

/** Reads the events of a config in the order of their numbers. */
export type ForwardedEvents = {
  readonly datasets: ReadonlyMap<string, DatasetRow>
  /** Counts the events of the datasets, whether they match the filter or not. */
  count(range: NumberRange): Promise<{ count: number; lowest: bigint | undefined }>
  /** Yields the matching events page by page; `to` is the number up to which a page has all. */
  pages(range: NumberRange, filter: string): AsyncIterable<{ events: readonly FoundEvent[]; to: bigint }>
}

/** The action under which the service reads events to forward them. */
const ACTION = 'forwardConfigs.deliver'
const PAGE_EVENTS_MAX = 8_000
/** The store has no events of other times. */
const ALWAYS: TimeBounds = { fromMs: Date.UTC(1999, 11, 31), toMs: Date.UTC(2262, 0, 1) }
const NS_PER_MS = 1_000_000n
const TOO_LARGE = 'the answer would be too large'

/** Opens the events that the author of a config may see now. */
export async function openForwardedEvents(
  world: ForwardWorld,
  config: Pick<ForwardConfigRow, 'org_id' | 'author' | 'author_roles' | 'all_logs' | 'log_ids'>,
  orgNumber: number,
  signal: AbortSignal,
): Promise<ForwardedEvents> {
  const actor = await authorOf(world, config, orgNumber)
  const named = new Set(config.log_ids)
  // The canary says something about this deployment only, every minute.
  const isChosen = ({ id, collection }: DatasetRow): boolean => (config.all_logs ? collection !== CANARY_COLLECTION : named.has(id))
  const chosen = (await visibleDatasets(world, actor)).filter(isChosen)

  const query = (filter: Filter, bounds: TimeBounds, datasets: readonly DatasetRow[] = chosen): Promise<EventQuery> =>
    buildEventQuery(world, actor, {
      datasets,
      filter,
      bounds,
      signal,
      reader: 'export',
      budget: pageBudget(world),
    })

  async function matching(numbers: readonly EventNumber[], filter: Filter): Promise<readonly FoundEvent[]> {
    const ids = new Set(numbers.map(({ logId }) => logId))
    const wanted = await query(
      filter,
      boundsOf(numbers),
      chosen.filter(({ id }) => ids.has(id)),
    )
    const { events } = await readEvents(world.events, wanted, {
      limit: numbers.length,
      newestFirst: false,
      keys: 'all',
      withRaw: true,
      numbers: numbers.map(({ seq }) => seq),
    })
    return events.toSorted((one, other) => (one.seq < other.seq ? -1 : 1))
  }

  async function* pages({ after, before }: NumberRange, text: string): ReturnType<ForwardedEvents['pages']> {
    const { filter } = parseFilter(text)
    let [position, limit] = [after, PAGE_EVENTS_MAX]
    while (chosen.length > 0) {
      const { found, hasMore } = await readNumbersInOrder(world.events, await query(ALL_EVENTS, ALWAYS), { after: position, before, limit })
      const last = found.at(-1)
      if (!last) break
      try {
        yield { events: await matching(found, filter), to: last.seq }
      } catch (thrown) {
        if (found.length === 1 || !(thrown instanceof Failure) || !thrown.message.startsWith(TOO_LARGE)) throw thrown
        limit = Math.ceil(found.length / 8)
        continue
      }
      if (!hasMore) break
      position = last.seq
      limit = Math.min(PAGE_EVENTS_MAX, limit * 2)
    }
  }

  return {
    datasets: new Map(chosen.map((dataset) => [dataset.id, dataset])),
    count: async (range) =>
      chosen.length === 0 ? { count: 0, lowest: undefined } : countNumbers(world.events, await query(ALL_EVENTS, ALWAYS), range),
    pages,
  }
}

/** The author of a config with their current roles, or with those of that time if the author is gone. Policies hide from the config what they hide from them. */
async function authorOf(
  world: Pick<World, 'meta'>,
  config: { readonly org_id: string; readonly author: Identity; readonly author_roles: readonly string[] },
  orgNumber: number,
): Promise<Actor> {
  const found = await callerOf(world, config.org_id, config.author)
  return {
    orgId: config.org_id,
    orgNumber,
    identity: config.author,
    name: 'forwarding',
    roles: found?.roles ?? config.author_roles,
    permissions: new Set(),
    facts: factsOfWork(ACTION),
  }
}

function boundsOf(numbers: readonly EventNumber[]): TimeBounds {
  const times = numbers.map(({ timeNs }) => timeNs).sort((one, other) => (one < other ? -1 : 1))
  const [first = 0n, last = 0n] = [times[0], times.at(-1)]
  return { fromMs: Number(first / NS_PER_MS), toMs: Number(last / NS_PER_MS) + 1 }
}
