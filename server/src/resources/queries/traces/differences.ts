import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { EventQuery, TimeBounds } from '../../../reading/query.ts'
import { readEvents, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { compareEvents } from '../changes/changes.ts'
import { searchedDatasets, spanDatasets } from './span-datasets.ts'
import { inTraces, spanFilter } from './span-filter.ts'
import { isSpan, TRACE_ID_KEY } from './trace-id.ts'
import { traceIdOf } from './trace-summaries.ts'

type DifferencesQuery = QueryOf<typeof contract.traces.differences>
type DifferencesReply = ReplyOf<typeof contract.traces.differences>

const DEFAULT_RANGE = 'last 1 hour'
const LIMIT = 20
/** How many traces of a side are compared, and how many spans are read to find them; a trace may have several that match. */
const TRACES_MAX = 300
const SPANS_MAX = 3_000
/** If there are more, traces are taken from equal parts of the range, so that no part stands for all. */
const PARTS = 4
/** Spans of a trace may lie outside the range. */
const AROUND_MS = 3_600_000
/** They tell spans and traces apart, and when they were. */
const IDS: ReadonlySet<string> = new Set(
  ['trace_id', 'span_id', 'parent_span_id', 'start_time_unix_nano', 'end_time_unix_nano'].map((name) => `$span.${name}`),
)

type Reading = { readonly world: World; readonly actor: Actor; readonly signal: AbortSignal; bytes: number }

/** Compares the spans of traces with some duration or status with those of others, whole traces with whole traces. */
export async function findDifferences(world: World, actor: Actor, query: DifferencesQuery, signal: AbortSignal): Promise<DifferencesReply> {
  const startedMs = world.clock.monotonicMs()
  const { status, min_duration, max_duration, ...conditions } = query
  if (status === undefined && min_duration === undefined && max_duration === undefined) {
    throw badField('min_duration', 'or max_duration or status is required: traces are compared with those that do not meet it', 'REQUIRED')
  }
  const selected = spanFilter(query).whole
  const others = and(spanFilter(conditions).whole, { kind: 'not', of: selected })
  const bounds = boundsOf(query, world.clock.nowMs(), DEFAULT_RANGE)
  const datasets = await searchedDatasets(world, actor, query)
  if (datasets.length === 0) return NOTHING
  const reading: Reading = { world, actor, signal, bytes: 0 }
  const chosen = await chooseIds(reading, datasets, selected, bounds)
  const candidates = await chooseIds(reading, datasets, others, bounds)
  const meeting = await idsAmong(reading, { datasets, filter: selected, bounds }, candidates.ids)
  const otherIds = candidates.ids.filter((id) => !meeting.has(id) && !chosen.ids.includes(id))
  const compared = await compareTraces(reading, await describedDatasets(world, actor, datasets), {
    ids: chosen.ids,
    otherIds,
    bounds,
    limit: query.limit ?? LIMIT,
  })
  recordSearch(world, actor, { datasets, bytes: reading.bytes, startedMs })
  return {
    traces: chosen.ids.length,
    other_traces: otherIds.length,
    ...compared,
    is_exact: !chosen.hasMore && !candidates.hasMore,
  }
}

const NOTHING: DifferencesReply = {
  traces: 0,
  spans: 0,
  other_traces: 0,
  other_spans: 0,
  summary: 'There are no spans.',
  findings: [],
  findings_total: 0,
  is_sampled: false,
  is_exact: true,
}

type Selection = { readonly datasets: readonly DatasetRow[]; readonly filter: Filter; readonly bounds: TimeBounds }

const eventQueryOf = ({ world, actor, signal }: Reading, selection: Selection): Promise<EventQuery> =>
  buildEventQuery(world, actor, { ...selection, signal })

/** The datasets of spans, and those that were searched. */
async function describedDatasets(world: World, actor: Actor, datasets: readonly DatasetRow[]): Promise<readonly DatasetRow[]> {
  const ofSpans = await spanDatasets(world, actor)
  const known = new Set(ofSpans.map(({ id }) => id))
  return [...ofSpans, ...datasets.filter(({ id }) => !known.has(id))]
}

type ChosenIds = { readonly ids: readonly string[]; readonly hasMore: boolean }

/** The ids of the traces with a span that matches: of all, or of the newest ones of each part of the range. */
async function chooseIds(reading: Reading, datasets: readonly DatasetRow[], filter: Filter, bounds: TimeBounds): Promise<ChosenIds> {
  const all = await newestIds(reading, { datasets, filter, bounds }, 1)
  if (!all.hasMore) return all
  const parts = await Promise.all(partsOf(bounds).map((part) => newestIds(reading, { datasets, filter, bounds: part }, PARTS)))
  return { ids: [...new Set(parts.flatMap(({ ids }) => ids))], hasMore: true }
}

async function newestIds(reading: Reading, selection: Selection, parts: number): Promise<ChosenIds> {
  const request = { limit: SPANS_MAX / parts, newestFirst: true, keys: [TRACE_ID_KEY], withRaw: false }
  const { events, hasMore, cost } = await readEvents(reading.world.events, await eventQueryOf(reading, selection), request)
  reading.bytes += cost.bytes
  const ids = [...new Set(events.flatMap((event) => traceIdOf(event) ?? []))]
  const most = TRACES_MAX / parts
  return { ids: ids.slice(0, most), hasMore: hasMore || ids.length > most }
}

function partsOf({ fromMs, toMs }: TimeBounds): readonly TimeBounds[] {
  const edge = (at: number) => fromMs + Math.round(((toMs - fromMs) * at) / PARTS)
  return Array.from({ length: PARTS }, (_, at) => ({ fromMs: edge(at), toMs: edge(at + 1) })).filter((one) => one.fromMs < one.toMs)
}

/** Which of some traces have a span that matches. */
async function idsAmong(reading: Reading, selection: Selection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const eventQuery = await eventQueryOf(reading, { ...selection, filter: and(selection.filter, inTraces(ids)) })
  const request = { calls: [{ name: 'count' as const }], groups: [TRACE_ID_KEY], slices: 1, limit: ids.length }
  const { groups, cost } = await readStats(reading.world.events, eventQuery, request)
  reading.bytes += cost.bytes
  return new Set(groups.flatMap(({ values: [id] }) => id ?? []))
}

type ComparedTraces = {
  readonly ids: readonly string[]
  readonly otherIds: readonly string[]
  readonly bounds: TimeBounds
  readonly limit: number
}

/** Compares all spans of traces with all spans of others. */
async function compareTraces(reading: Reading, datasets: readonly DatasetRow[], { ids, otherIds, bounds, limit }: ComparedTraces) {
  if (ids.length === 0)
    return { spans: 0, other_spans: 0, summary: 'No trace meets the conditions.', findings: [], findings_total: 0, is_sampled: false }
  const around = { fromMs: Math.max(0, bounds.fromMs - AROUND_MS), toMs: bounds.toMs + AROUND_MS }
  const query = await eventQueryOf(reading, { datasets, filter: and(isSpan(false), inTraces([...ids, ...otherIds])), bounds: around })
  const found = await compareEvents(reading.world, reading.actor.orgId, {
    query,
    bounds: { now: around, before: around },
    limit,
    selected: inTraces(ids),
    ids: IDS,
  })
  reading.bytes += found.cost.bytes
  return {
    spans: Number(found.range.count),
    other_spans: Number(found.baseline.count),
    summary: found.summary,
    findings: found.findings,
    findings_total: found.findings_total,
    is_sampled: found.is_sampled,
  }
}
