import type { contract, QueryOf, ReplyOf, TraceList } from '@dendro/api'
import type { AggregateCall, Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { ORIGINAL_TIME } from '../../../lines/reference/event.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { EventQuery, FoundEvent, QueryCost, TimeBounds } from '../../../reading/query.ts'
import { readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery, recordSearch, WEIGHT_KEY } from '../../data/event-queries/event-queries.ts'
import { durationCounts, durationFilters } from './duration-counts.ts'
import { searchedDatasets, spanDatasets } from './span-datasets.ts'
import { DURATION_KEY, inTraces, isRoot, spanFilter } from './span-filter.ts'
import { isSpan, TRACE_ID_KEY } from './trace-id.ts'
import { traceIdOf, traceSummaries } from './trace-summaries.ts'
import { countWeighted, weightsAmong } from './weighted-counts.ts'
import { tracesThatMeet, type WholeTrace } from './whole-trace.ts'

/** `also` is a further condition on the spans, and `whole` those on their traces, for callers with a query language of their own. */
export type TracesQuery = QueryOf<typeof contract.traces.find> & { readonly also?: Filter; readonly whole?: WholeTrace }
type TracesReply = ReplyOf<typeof contract.traces.find>

const DEFAULT_RANGE = 'last 1 hour'
const LIMIT = 20
/** Spans that are read at once to find traces. */
const PAGE = 1_000
/** Spans of a trace that match, at most, in most searches. */
const SPANS_OF_TRACE = 16
/** Each further page leaves out the traces that were found, so a trace with many spans takes one page. */
const PAGES_MAX = 11
/** Roots that are read; a trace may have several. */
const ROOTS_MAX = 1_000
/** Combinations of trace, service and status that are read. */
const GROUPS_MAX = 10_000
const AROUND_MS = 3_600_000
const NS_PER_MS = 1_000_000n

const SPAN_KEYS = ['trace_id', 'span_id', 'name', 'kind', 'status_code', 'start_time_unix_nano', 'duration_nano'].map(
  (name) => `$span.${name}`,
)
const KEYS = [...SPAN_KEYS, '$service.name', WEIGHT_KEY, ORIGINAL_TIME]
const CALLS: readonly AggregateCall[] = [
  { name: 'min', key: '$span.start_time_unix_nano' },
  { name: 'max', key: '$span.end_time_unix_nano' },
]

/** Finds traces by their spans: first the spans that match, in the requested order, then everything about their traces. */
export async function findTraces(world: World, actor: Actor, query: TracesQuery, signal: AbortSignal): Promise<TracesReply> {
  const startedMs = world.clock.monotonicMs()
  const filter = spanFilter(query)
  const bounds = boundsOf(query, world.clock.nowMs(), DEFAULT_RANGE)
  const ofSpans = await spanDatasets(world, actor)
  const datasets = await searchedDatasets(world, actor, query)
  if (datasets.length === 0)
    return { traces: [], has_more: false, ...(query.durations ? { durations: [] } : {}), is_sampled: false, is_exact: true }
  const reading: TracesReading = { world, actor, signal, bytes: 0 }
  const selection = { datasets, filter: filter.whole, bounds }
  const ids = new Set(ofSpans.map(({ id }) => id))
  const all = [...ofSpans, ...datasets.filter(({ id }) => !ids.has(id))]
  const [chosen, durations] = await Promise.all([
    query.whole ? chooseWhole(reading, selection, query, { whole: query.whole, all }) : chooseTraces(reading, selection, query),
    countDurations(reading, { datasets, filter: filter.ofAnyDuration, bounds }, query.durations ?? false),
  ])
  const described = await describeTraces(reading, all, chosen.found)
  recordSearch(world, actor, { datasets, bytes: reading.bytes, startedMs })
  return {
    traces: described.traces,
    has_more: chosen.hasMore,
    ...(durations.counts ? { durations: durations.counts } : {}),
    is_sampled: durations.isSampled,
    is_exact: chosen.isExact && described.isExact,
  }
}

type TracesReading = { readonly world: World; readonly actor: Actor; readonly signal: AbortSignal; bytes: number }
type Selection = { readonly datasets: readonly DatasetRow[]; readonly filter: Filter; readonly bounds: TimeBounds }

const eventQueryOf = ({ world, actor, signal }: TracesReading, selection: Selection): Promise<EventQuery> =>
  buildEventQuery(world, actor, { ...selection, signal })

type Chosen = { readonly found: ReadonlyMap<string, FoundEvent>; readonly hasMore: boolean; readonly isExact: boolean }

/** Finds the first traces in the requested order, each by the first of its spans that matches. */
async function chooseTraces(reading: TracesReading, selection: Selection, { order, limit = LIMIT }: TracesQuery): Promise<Chosen> {
  const found = new Map<string, FoundEvent>()
  const orderBy = order === 'slowest' ? { orderBy: { key: DURATION_KEY, descending: true } } : {}
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const others = found.size === 0 ? selection.filter : and(selection.filter, inTraces([...found.keys()], true))
    const eventQuery = await eventQueryOf(reading, { ...selection, filter: others })
    const request = { limit: spansRead(page, limit, order), newestFirst: true, keys: KEYS, withRaw: false, ...orderBy }
    const { events, hasMore, cost } = await readEvents(reading.world.events, eventQuery, request)
    reading.bytes += cost.bytes
    for (const event of events) {
      const id = traceIdOf(event)
      if (id === undefined || found.has(id)) continue
      if (found.size === limit) return { found, hasMore: true, isExact: true }
      found.set(id, event)
    }
    if (!hasMore) return { found, hasMore: false, isExact: true }
  }
  return { found, hasMore: true, isExact: false }
}

type Whole = { readonly whole: WholeTrace; readonly all: readonly DatasetRow[] }

/** Chooses traces by conditions on all of their spans, some of which may lie in other datasets. */
async function chooseWhole(reading: TracesReading, selection: Selection, query: TracesQuery, { whole, all }: Whole): Promise<Chosen> {
  const { filter, bounds } = selection
  const ofAll = await eventQueryOf(reading, {
    datasets: all,
    filter: isSpan(false),
    bounds: boundsAround([bounds.fromMs, bounds.toMs]),
  })
  const { values, hasMore, cost } = await tracesThatMeet(reading.world, ofAll, whole, { filter, bounds, limit: query.limit ?? LIMIT })
  reading.bytes += cost.bytes
  if (values.length === 0) return { found: new Map(), hasMore: false, isExact: true }
  const chosen = await chooseTraces(reading, { ...selection, filter: and(filter, inTraces(values)) }, query)
  return { ...chosen, hasMore: chosen.hasMore || hasMore }
}

/**
 * How many spans a page reads. The newest are read backwards in time until there are enough: what few spans have lies far apart, so that the first page
 * wants no more than the traces that are listed have in most searches. The slowest are sorted over the whole range anyway.
 */
export const spansRead = (page: number, limit: number, order: TracesQuery['order']): number =>
  page > 0 || order === 'slowest' ? PAGE : Math.min(PAGE, SPANS_OF_TRACE * (limit + 1))

type Durations = { readonly isSampled: boolean; readonly counts: TraceList['durations'] }

/** Whether spans that match stand for others too, and if it is asked for, how many there are by duration. */
async function countDurations(reading: TracesReading, selection: Selection, areCounted: boolean): Promise<Durations> {
  const counting = {
    store: reading.world.events,
    query: (filter: Filter) => eventQueryOf(reading, { ...selection, filter }),
    read: ({ bytes }: QueryCost) => {
      reading.bytes += bytes
    },
  }
  const weights = await weightsAmong(counting, selection.filter)
  const counts = areCounted ? await countWeighted(counting, selection.filter, durationFilters, weights) : undefined
  return { isSampled: weights.length > 0, counts: counts && durationCounts(counts) }
}

/** Describes the traces from all their spans, which may lie in datasets that were not searched. */
async function describeTraces(reading: TracesReading, datasets: readonly DatasetRow[], found: Chosen['found']) {
  if (found.size === 0) return { traces: [], isExact: true }
  const filter = and(isSpan(false), inTraces([...found.keys()]))
  const bounds = boundsAround([...found.values()].map(({ timeNs }) => Number(timeNs / NS_PER_MS)))
  const { events: store } = reading.world
  const [stats, roots] = await Promise.all([
    eventQueryOf(reading, { datasets, filter, bounds }).then((eventQuery) =>
      readStats(store, eventQuery, {
        calls: CALLS,
        groups: [TRACE_ID_KEY, '$service.name', '$span.status_code'],
        slices: 1,
        limit: GROUPS_MAX,
      }),
    ),
    eventQueryOf(reading, { datasets, filter: and(filter, isRoot), bounds }).then((eventQuery) =>
      readEvents(store, eventQuery, {
        limit: ROOTS_MAX,
        newestFirst: false,
        orderBy: { key: DURATION_KEY, descending: true },
        keys: KEYS,
        withRaw: false,
      }),
    ),
  ])
  reading.bytes += stats.cost.bytes + roots.cost.bytes
  return {
    traces: traceSummaries({ found, roots: roots.events, groups: stats.groups }),
    isExact: stats.groupsTotal <= stats.groups.length && !roots.hasMore,
  }
}

/** An hour to each side of the times of spans. A parent may have begun long before. */
export function boundsAround(times: readonly number[]): TimeBounds {
  return { fromMs: Math.max(0, Math.min(...times) - AROUND_MS), toMs: Math.max(...times) + AROUND_MS }
}
