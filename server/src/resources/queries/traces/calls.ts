import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import type { AggregateCall, Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { EventQuery, FoundEvent } from '../../../reading/query.ts'
import { readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and, buildEventQuery, isSampled, recordSearch, WEIGHT_KEY } from '../../data/event-queries/event-queries.ts'
import { recordedSpan } from './recorded-span.ts'
import { unstoredOf, WEIGHTS, weightOf, withUnstored } from './sampled-spans.ts'
import { type CallSpan, peerKeys, serviceCalls } from './service-calls.ts'
import { searchedDatasets } from './span-datasets.ts'
import { isFailed } from './span-filter.ts'
import { isSpan, TRACE_ID_KEY } from './trace-id.ts'

export type CallsQuery = QueryOf<typeof contract.traces.calls>
type CallsReply = ReplyOf<typeof contract.traces.calls>

const DEFAULT_RANGE = 'last 1 hour'
const LIMIT = 200
const SERVICES_MAX = 200
const READ_MAX = 20_000
const HEX = 16
const CHOICES = 4

const KEYS = [
  ...['trace_id', 'span_id', 'parent_span_id', 'kind', 'status_code', 'duration_nano'].map((name) => `$span.${name}`),
  '$service.name',
  WEIGHT_KEY,
  ...peerKeys.map(([key]) => key),
]

/** Counts the calls between services, in all traces of the range or in as many as can be read. */
export async function listCalls(world: World, actor: Actor, query: CallsQuery, signal: AbortSignal): Promise<CallsReply> {
  const startedMs = world.clock.monotonicMs()
  const bounds = boundsOf(query, world.clock.nowMs(), DEFAULT_RANGE)
  const datasets = await searchedDatasets(world, actor, query)
  if (datasets.length === 0) return NOTHING
  let bytes = 0
  const queryOf = (filter: Filter): Promise<EventQuery> => buildEventQuery(world, actor, { datasets, filter, bounds, signal })
  const count = async (filter: Filter, call: AggregateCall = { name: 'count' }) => {
    const request = { calls: [call], groups: ['$service.name'], slices: 1, limit: SERVICES_MAX }
    const found = await readStats(world.events, await queryOf(filter), request)
    bytes += found.cost.bytes
    return found
  }
  const [all, failed] = await Promise.all([count(isSpan(false)), count(and(isSpan(false), isFailed))])
  const total = all.whole.count
  const sampled = unstoredOf(await count(and(isSpan(false), isSampled), WEIGHTS))
  const sampledFailures = sampled.size === 0 ? sampled : unstoredOf(await count(and(and(isSpan(false), isFailed), isSampled), WEIGHTS))
  const read = async (ends: readonly string[]) => {
    const request = { limit: READ_MAX, newestFirst: true, keys: KEYS, withRaw: false }
    const found = await readEvents(
      world.events,
      await queryOf(ends.length === 0 ? isSpan(false) : and(isSpan(false), endsWith(ends))),
      request,
    )
    bytes += found.cost.bytes
    return found
  }
  const { events, isWhole, weight } = await readWhole(read, total)
  recordSearch(world, actor, { datasets, bytes, startedMs })
  const seconds = (bounds.toMs - bounds.fromMs) / 1_000
  const calls = serviceCalls(events.map(callSpan), { weight, seconds }).filter(
    ({ from, to, kind }) => !query.service || from === query.service || (kind === 'service' && to === query.service),
  )
  const failures = new Map(failed.groups.map(({ values: [service], whole }) => [service ?? '', whole.count]))
  return {
    services: all.groups.map(({ values: [service], whole }) => ({
      service: service ?? '',
      spans: withUnstored(whole.count, [service ?? null], sampled),
      errors: withUnstored(failures.get(service ?? '') ?? 0, [service ?? null], sampledFailures),
    })),
    services_total: all.groupsTotal,
    calls: calls.slice(0, query.limit ?? LIMIT),
    calls_total: calls.length,
    spans_total: total,
    spans_read: events.length,
    is_exact: isWhole && sampled.size === 0,
  }
}

const NOTHING: CallsReply = {
  services: [],
  services_total: 0,
  calls: [],
  calls_total: 0,
  spans_total: 0,
  spans_read: 0,
  is_exact: true,
}

type Page = { readonly events: readonly FoundEvent[]; readonly hasMore: boolean }
/** `weight` is how many traces each of those that were read stands for. */
type ReadSpans = { readonly events: readonly FoundEvent[]; readonly isWhole: boolean; readonly weight: number }

/**
 * Reads the spans of whole traces: of all, or of those whose ids have some ends. Ends of ids are random, so that these traces stand for the others. If one of
 * them alone has more spans than can be read, other ends are tried.
 */
async function readWhole(read: (ends: readonly string[]) => Promise<Page>, total: number): Promise<ReadSpans> {
  if (total <= READ_MAX) {
    const { events, hasMore } = await read([])
    // More may have arrived since they were counted.
    return { events, isWhole: !hasMore, weight: 1 }
  }
  for (const ends of someEnds(READ_MAX / 2 / total)) {
    const { events, hasMore } = await read(ends)
    // Not by spans: traces of very different sizes would stand for too many or too few.
    if (events.length > 0 && !hasMore) return { events, isWhole: false, weight: HEX ** (ends[0]?.length ?? 0) / ends.length }
  }
  const { events } = await read([])
  return { events, isWhole: false, weight: Math.max(1, total / Math.max(1, events.length)) }
}

/** Up to four choices of the ends that a share of all ids has. */
export function someEnds(share: number): readonly (readonly string[])[] {
  const digits = Math.max(1, Math.ceil(-Math.log(share) / Math.log(HEX)))
  const number = Math.floor(share * HEX ** digits)
  return Array.from({ length: Math.min(CHOICES, Math.floor(HEX ** digits / number)) }, (_, choice) =>
    Array.from({ length: number }, (_end, at) => (choice * number + at).toString(HEX).padStart(digits, '0')),
  )
}

const NOWHERE = { position: 0, length: 0 }
const endsWith = (ends: readonly string[]): Filter => ({
  kind: 'or',
  of: ends.map((end): Filter => ({ kind: 'like', key: TRACE_ID_KEY, pattern: `%${end}`, ignoreCase: true, negated: false, at: NOWHERE })),
})

function callSpan(event: FoundEvent): CallSpan {
  const { id, parentId, service, kind, status, durationNano } = recordedSpan(event)
  const [key, of] = peerKeys.find(([name]) => event.leaves.has(name)) ?? []
  const name = key === undefined ? undefined : event.leaves.get(key)
  return {
    traceId: event.leaves.get(TRACE_ID_KEY)?.toLowerCase() ?? '',
    id,
    parentId,
    service,
    kind,
    isFailed: status === 'error',
    durationNano,
    peer: name && of ? { name, kind: of } : undefined,
    weight: weightOf(event),
  }
}
