import { TRACES_MAX, type TraceSummary } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { jsonReply, type ReadCall, wholeParameter } from '../../../http/protocol-reads.ts'
import type { LongRawReply } from '../../../http/raw-handler.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import {
  findSpans,
  findTraces,
  inTraces,
  relatedSpans,
  spanDatasets,
  spanFilter,
  type TraceSpan,
  type TracesQuery,
  traceSpan,
  withLeadingZeros,
} from '../traces/traces.ts'
import { attributesJson, PARTIAL, resourceSpansJson, traceProtobuf, traceReplyProtobuf } from './otlp-trace.ts'
import { bothTimes, durationsOf, rangeOf } from './parameters.ts'
import { queryOfTags } from './tag-query.ts'
import { parseTraceql, type SpanQuery } from './traceql.ts'

const LIMIT = 20
const SPANS_OF_A_TRACE = 3
const SPANS_OF_A_TRACE_MAX = 100
/** Matching spans that are read for all found traces together. */
const MATCHES_MAX = 5_000
const NS_PER_MS = 1_000_000
const PROTOBUF = 'application/protobuf'
const NO_ROOT = '<root span not yet received>'

/** Returns a trace in OpenTelemetry's form: protobuf where the client accepts it, else JSON. */
export async function traceById(world: World, call: ReadCall, version: 1 | 2): Promise<LongRawReply> {
  const { actor, parameters, segments, signal, head } = call
  const id = withLeadingZeros(segments[0] ?? '')
  const { spans, isComplete } = await findSpans(world, actor, id, bothTimes(parameters) ?? {}, signal)
  if (spans.length === 0) throw new Failure(404, 'trace not found')
  if (head.headers.accept?.includes(PROTOBUF)) {
    const body = version === 1 ? traceProtobuf(spans) : traceReplyProtobuf(spans, isComplete)
    return { status: 200, headers: { 'content-type': PROTOBUF }, body }
  }
  if (version === 1) return jsonReply({ batches: resourceSpansJson(spans) })
  return jsonReply({
    trace: { resourceSpans: resourceSpansJson(spans) },
    metrics: {},
    ...(isComplete ? {} : { status: 'PARTIAL', message: PARTIAL }),
  })
}

/** Finds traces by one of their spans, newest first. */
export async function searchTraces(world: World, { actor, parameters, signal }: ReadCall): Promise<LongRawReply> {
  const { filter, attributes, whole, pair } = spanQuery(parameters)
  const { fromMs, toMs } = rangeOf(parameters, world.clock.nowMs())
  const bounds = { fromMs, toMs }
  const limit = wholeParameter(parameters, 'limit', { otherwise: LIMIT, most: TRACES_MAX })
  const ofEach = wholeParameter(parameters, 'spss', { otherwise: SPANS_OF_A_TRACE, most: SPANS_OF_A_TRACE_MAX })
  const also = pair ? await relatedSpans(world, actor, pair, { bounds, limit, signal }) : filter
  if (!also) return jsonReply({ traces: [], metrics: {} })
  const conditions: TracesQuery = { also, ...(whole ? { whole } : {}), ...durationsOf(parameters) }
  const { traces } = await findTraces(world, actor, { ...conditions, from_ts: fromMs, to_ts: toMs, limit }, signal)
  const ids = traces.map(({ trace_id }) => trace_id)
  const matching = await matchingSpans(world, { actor, signal }, { filter: spanFilter(conditions).whole, bounds, ids })
  return jsonReply({
    traces: traces.map((trace) => shownSummary(trace, { spans: matching.get(trace.trace_id) ?? [], ofEach, attributes })),
    metrics: {},
  })
}

function spanQuery(parameters: URLSearchParams): SpanQuery {
  const query = parameters.get('q') ?? ''
  return query.trim() === '' ? queryOfTags(parameters.get('tags') ?? '') : parseTraceql(query)
}

type Matching = { readonly filter: Filter; readonly bounds: TimeBounds; readonly ids: readonly string[] }

async function matchingSpans(
  world: World,
  { actor, signal }: Pick<ReadCall, 'actor' | 'signal'>,
  { filter, bounds, ids }: Matching,
): Promise<ReadonlyMap<string, readonly TraceSpan[]>> {
  if (ids.length === 0) return new Map()
  const startedMs = world.clock.monotonicMs()
  const datasets = await spanDatasets(world, actor)
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: and(filter, inTraces(ids)), bounds, signal })
  const { events, cost } = await readEvents(world.events, eventQuery, {
    limit: MATCHES_MAX,
    newestFirst: true,
    keys: 'all',
    withRaw: false,
  })
  recordSearch(world, actor, { datasets, bytes: cost.bytes, startedMs })
  return Map.groupBy(events.map(traceSpan), ({ traceId }) => traceId)
}

type Shown = { readonly spans: readonly TraceSpan[]; readonly ofEach: number; readonly attributes: readonly string[] }

function shownSummary(trace: TraceSummary, { spans, ofEach, attributes }: Shown) {
  const spanSet = {
    spans: spans.slice(0, ofEach).map((span) => ({
      spanID: span.id,
      name: span.name,
      startTimeUnixNano: String(span.startNano),
      durationNanos: String(span.durationNano),
      attributes: attributesJson(chosen(span, attributes)),
    })),
    matched: spans.length,
  }
  return {
    traceID: trace.trace_id,
    rootServiceName: trace.root?.service ?? NO_ROOT,
    rootTraceName: trace.root?.name ?? '',
    startTimeUnixNano: trace.start_time_unix_nano,
    durationMs: Math.round(trace.duration_nano / NS_PER_MS),
    spanSet,
    spanSets: [spanSet],
  }
}

const chosen = ({ attributes }: TraceSpan, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (attributes[`$${name}`] === undefined ? [] : [[name, attributes[`$${name}`] ?? '']])))
