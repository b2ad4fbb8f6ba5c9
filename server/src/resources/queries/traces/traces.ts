import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import { TRACE_SPANS_MAX } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField, Failure } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { countMatching, readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, visibleDatasets } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { assembleTrace } from './assembled.ts'
import { recordedSpan } from './recorded-span.ts'
import { searchRanges, widerRange } from './search-ranges.ts'
import { shownErrors, shownLogs, shownSpans } from './shown-trace.ts'
import { isOfSpans, mayHaveTraces } from './span-datasets.ts'
import { eventsOfTrace, isSpan, parseTraceId, SPAN_ID_KEY, spansOfTrace } from './trace-id.ts'
import { type TraceSpan, traceSpan } from './trace-spans.ts'

type TraceQuery = QueryOf<typeof contract.traces.get>
type TraceReply = ReplyOf<typeof contract.traces.get>

export { listCalls } from './calls.ts'
export { boundsAround, findTraces, type TracesQuery } from './find-traces.ts'
export { relatedSpans, type SpanPair } from './related-spans.ts'
export { isOfResource, resourceAttributes } from './resource-attributes.ts'
export { nameOfGroup, WEIGHTS } from './sampled-spans.ts'
export { spanDatasets } from './span-datasets.ts'
export { DURATION_KEY, hasText, inTraces, isFailed, isRoot, isWithin, lasts, ofStatus, spanFilter } from './span-filter.ts'
export type { SpanRelation } from './span-relations.ts'
export { TRACE_ID_KEY, withLeadingZeros } from './trace-id.ts'
export { readTraceSpans, type TraceSpan, traceSpan } from './trace-spans.ts'
export type { WholeTrace } from './whole-trace.ts'

const LOGS = 1_000
/** How often a range is widened. */
const WIDER_MAX = 3
const NS_PER_MS = 1_000_000n
/** Returns a trace: its spans, assembled, and the events that name it. */
export async function findTrace(world: World, actor: Actor, given: string, query: TraceQuery, signal: AbortSignal): Promise<TraceReply> {
  const { traceId, found } = await readTrace(world, actor, given, { ...query, logs: query.logs ?? LOGS }, signal)
  if (isNothing(found)) throw new Failure(404, `no span or event has the trace id ${traceId}${rangeWords(query)}`)
  return shownTrace(traceId, found, actor)
}

type FoundSpans = { readonly traceId: string; readonly spans: readonly TraceSpan[]; readonly isComplete: boolean }

/** Returns the spans of a trace as they were recorded, oldest first. */
export async function findSpans(world: World, actor: Actor, given: string, query: TraceQuery, signal: AbortSignal): Promise<FoundSpans> {
  const { traceId, found } = await readTrace(world, actor, given, { ...query, logs: 'none' }, signal)
  const { events, total } = found.spans
  return { traceId, spans: events.map(traceSpan), isComplete: events.length === total }
}

type ReadQuery = Omit<TraceQuery, 'logs'> & { readonly logs: number | 'none' }

async function readTrace(world: World, actor: Actor, given: string, query: ReadQuery, signal: AbortSignal) {
  const startedMs = world.clock.monotonicMs()
  const traceId = parseTraceId(given)
  if (traceId === undefined) throw badField('traceId', 'must be 32 or 16 hex digits, not all 0, or 16 bytes in base64')
  const ranges = rangesOf(world, query)
  const datasets = (await visibleDatasets(world, actor)).filter(({ collection }) => mayHaveTraces(collection))
  const reading: TraceReading = { world, actor, traceId, ...byContent(datasets), signal, logs: query.logs, bytes: 0 }
  const found = datasets.length === 0 ? NOTHING : await search(reading, ranges)
  recordSearch(world, actor, { datasets, bytes: reading.bytes, startedMs })
  return { traceId, found }
}

const rangeWords = ({ time_range, from_ts }: TraceQuery): string =>
  time_range !== undefined || from_ts !== undefined ? ' in this range' : ''

function rangesOf(world: World, query: Omit<TraceQuery, 'logs'>): readonly TimeBounds[] {
  const hasRange = query.time_range !== undefined || query.from_ts !== undefined || query.to_ts !== undefined
  if (!hasRange) return searchRanges(world.clock.nowMs(), query.timestamp)
  if (query.timestamp !== undefined) throw badField('timestamp', 'excludes time_range, from_ts and to_ts', 'CONFLICT')
  return [boundsOf(query, world.clock.nowMs(), undefined)]
}

type TraceReading = {
  readonly world: World
  readonly actor: Actor
  readonly traceId: string
  /** The datasets that senders of spans fill. */
  readonly ofSpans: readonly DatasetRow[]
  /** The others. Rules may have moved spans to them. */
  readonly others: readonly DatasetRow[]
  readonly signal: AbortSignal
  readonly logs: number | 'none'
  bytes: number
}

type Part = { readonly events: readonly FoundEvent[]; readonly total: number }
type FoundTrace = { readonly spans: Part; readonly logs: Part }

const NO_EVENTS: Part = { events: [], total: 0 }
const NOTHING: FoundTrace = { spans: NO_EVENTS, logs: NO_EVENTS }
const isNothing = ({ spans, logs }: FoundTrace): boolean => spans.total === 0 && logs.total === 0

/** Searches one range after the other. */
async function search(reading: TraceReading, ranges: readonly TimeBounds[]): Promise<FoundTrace> {
  for (const [at, bounds] of ranges.entries()) {
    const found = await readRange(reading, bounds)
    if (isNothing(found)) continue
    if (ranges.length === 1) return found
    const ofSpans = found.spans.total === 0 ? await rangeOfSpans(reading, ranges.slice(at + 1)) : undefined
    return ofSpans ? readRange(reading, ofSpans) : readWider(reading, bounds, found)
  }
  return NOTHING
}

/** The first range with spans of the trace. A log event may name a trace long after its spans. */
async function rangeOfSpans(reading: TraceReading, ranges: readonly TimeBounds[]): Promise<TimeBounds | undefined> {
  const { traceId, ofSpans: datasets } = reading
  for (const bounds of ranges) {
    const { total } = await readPart(reading, { datasets, bounds, filter: spansOfTrace(traceId), limit: 0 })
    if (total > 0) return bounds
  }
  return undefined
}

/** Reads wider ranges as long as the trace may go on beyond them, and they have more of it. */
async function readWider(reading: TraceReading, bounds: TimeBounds, found: FoundTrace): Promise<FoundTrace> {
  let [range, known] = [bounds, found]
  for (let round = 0; round < WIDER_MAX; round += 1) {
    const times = [...known.spans.events, ...known.logs.events].map(({ timeNs }) => Number(timeNs / NS_PER_MS))
    if (times.length === 0) return known
    const firstMs = times.reduce((least, one) => Math.min(least, one))
    const lastMs = times.reduce((most, one) => Math.max(most, one))
    const wider = widerRange(range, { firstMs, lastMs, lacksParents: lacksParents(known.spans) })
    if (!wider) return known
    const more = await readRange(reading, wider)
    if (more.spans.total + more.logs.total === known.spans.total + known.logs.total) return more
    ;[range, known] = [wider, more]
  }
  return known
}

function lacksParents({ events, total }: Part): boolean {
  if (events.length < total) return false
  const ids = new Set(events.map(({ leaves }) => leaves.get(SPAN_ID_KEY)?.toLowerCase()))
  return events.some(({ leaves }) => {
    const parent = leaves.get('$span.parent_span_id')
    return parent !== undefined && !ids.has(parent.toLowerCase())
  })
}

function byContent(datasets: readonly DatasetRow[]): Pick<TraceReading, 'ofSpans' | 'others'> {
  return {
    ofSpans: datasets.filter(({ collection }) => isOfSpans(collection)),
    others: datasets.filter(({ collection }) => !isOfSpans(collection)),
  }
}

/** Spans have their id in one field. Other events may have it in several, which takes longer to read. */
async function readRange(reading: TraceReading, bounds: TimeBounds): Promise<FoundTrace> {
  const { traceId, ofSpans } = reading
  const [spans, others] = await Promise.all([
    readPart(reading, { datasets: ofSpans, bounds, filter: spansOfTrace(traceId), limit: TRACE_SPANS_MAX }),
    readOthers(reading, bounds),
  ])
  return { spans: joined(spans, others.spans), logs: others.logs }
}

/** Reads what other datasets have, which is seldom a span: only where they have much, it is read apart. */
async function readOthers(reading: TraceReading, bounds: TimeBounds): Promise<FoundTrace> {
  const { traceId, others: datasets, logs } = reading
  const filter = eventsOfTrace(traceId)
  if (typeof logs === 'number' && logs > 0) {
    const all = await readPart(reading, { datasets, bounds, filter, limit: TRACE_SPANS_MAX })
    if (all.events.length === all.total) return divided(all.events, logs)
  }
  const [spans, events] = await Promise.all([
    readPart(reading, { datasets, bounds, filter: and(filter, isSpan(false)), limit: TRACE_SPANS_MAX }),
    logs === 'none' ? NO_EVENTS : readPart(reading, { datasets, bounds, filter: and(filter, isSpan(true)), limit: logs }),
  ])
  return { spans, logs: events }
}

function divided(events: readonly FoundEvent[], logsMax: number): FoundTrace {
  const spans = events.filter(({ leaves }) => leaves.has(SPAN_ID_KEY))
  const logs = events.filter(({ leaves }) => !leaves.has(SPAN_ID_KEY))
  return { spans: { events: spans, total: spans.length }, logs: { events: logs.slice(0, logsMax), total: logs.length } }
}

/** The oldest of two lists that are sorted by time. */
function joined(one: Part, other: Part): Part {
  if (other.total === 0) return one
  const events = [...one.events, ...other.events].sort((a, b) => Number(a.timeNs - b.timeNs) || Number(a.seq - b.seq))
  return { events: events.slice(0, TRACE_SPANS_MAX), total: one.total + other.total }
}

type PartRequest = {
  readonly datasets: readonly DatasetRow[]
  readonly bounds: TimeBounds
  readonly filter: Filter
  readonly limit: number
}

/** Reads the oldest events that match, and counts the others if there are more. */
async function readPart(reading: TraceReading, { datasets, bounds, filter, limit }: PartRequest): Promise<Part> {
  if (datasets.length === 0) return NO_EVENTS
  const { world, actor, signal } = reading
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter, bounds, signal })
  if (limit > 0) {
    const order = { key: '@timestamp', descending: false }
    const { events, hasMore, cost } = await readEvents(world.events, eventQuery, {
      limit,
      newestFirst: false,
      orderBy: order,
      keys: 'all',
      withRaw: true,
    })
    reading.bytes += cost.bytes
    if (!hasMore) return { events, total: events.length }
    return { events, total: await countAll() }
  }
  return { events: [], total: await countAll() }

  async function countAll(): Promise<number> {
    const { count, cost } = await countMatching(world.events, eventQuery)
    reading.bytes += cost.bytes
    return count
  }
}

function shownTrace(traceId: string, { spans, logs }: FoundTrace, actor: Actor): TraceReply {
  const { baseUrl } = actor.facts
  const isExact = spans.total === spans.events.length && logs.total === logs.events.length
  const common = { trace_id: traceId, spans_total: spans.total, logs_total: logs.total, is_exact: isExact }
  if (spans.events.length === 0) {
    const startNano = logs.events[0]?.timeNs ?? 0n
    const last = logs.events.at(-1)?.timeNs ?? startNano
    return {
      ...common,
      ...timesOf(startNano, Number(last - startNano)),
      ...WITHOUT_SPANS,
      logs: shownLogs({ found: logs.events, startNano, baseUrl }),
    }
  }
  const trace = assembleTrace(spans.events.map(recordedSpan))
  return {
    ...common,
    ...timesOf(trace.startNano, trace.durationNano),
    ...(trace.root === undefined ? {} : { root: trace.root }),
    spans: shownSpans(trace, spans.events),
    logs: shownLogs({ found: logs.events, startNano: trace.startNano, baseUrl }),
    services: [...trace.services],
    critical_path: trace.path.map(({ node, start, end }) => ({ span: node, start_nano: start, duration_nano: end - start })),
    errors: shownErrors(trace, spans.events),
    errors_total: trace.failed.length,
    missing_spans: [...trace.missing],
    duplicates: trace.duplicates,
  }
}

const timesOf = (startNano: bigint, durationNano: number) => ({
  start_time: Number(startNano / NS_PER_MS),
  start_time_unix_nano: String(startNano),
  duration_nano: durationNano,
})

const WITHOUT_SPANS = { spans: [], services: [], critical_path: [], errors: [], errors_total: 0, missing_spans: [], duplicates: 0 }
