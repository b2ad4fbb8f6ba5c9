import { TRACES_MAX } from '@dendro/api'
import { readDurations } from '@dendro/language/nanoseconds'
import type { Filter } from '@dendro/language/tree'
import { type ReadCall, wholeParameter } from '../../../http/protocol-reads.ts'
import { badField, Failure } from '../../../kernel/errors.ts'
import { isObject } from '../../../kernel/json-object.ts'
import type { World } from '../../../world.ts'
import { and } from '../../data/event-queries/event-queries.ts'
import {
  boundsAround,
  findSpans,
  findTraces,
  hasText,
  isFailed,
  readTraceSpans,
  spanDatasets,
  type TracesQuery,
  withLeadingZeros,
} from '../traces/traces.ts'
import { type JaegerTrace, shownTrace } from './shown-trace.ts'

const LIMIT = 20
const LIMIT_MAX = 1_000_000
const US_PER_MS = 1_000
const LOOKBACK_NS = 3_600e9
const NS_PER_MS = 1_000_000
const PARTIAL = 'The trace has more spans than are shown.'

/** Returns one trace. Without times it is searched in growing ranges, as everywhere in the service. */
export async function traceById(
  world: World,
  { actor, parameters, segments, signal }: ReadCall,
): Promise<{ data: readonly JaegerTrace[] }> {
  const given = withLeadingZeros(segments[0] ?? '')
  const [from, to] = [millisecondsOf(parameters, 'start'), millisecondsOf(parameters, 'end')]
  const range = from === undefined || to === undefined ? {} : { from_ts: from, to_ts: to }
  refuseOrder(from, to)
  const { traceId, spans, isComplete } = await findSpans(world, actor, given, range, signal)
  if (spans.length === 0) throw new Failure(404, 'trace not found')
  return { data: [shownTrace(traceId, spans, isComplete ? undefined : PARTIAL)] }
}

/** Finds traces by one of their spans, newest first. */
export async function searchTraces(world: World, call: ReadCall): Promise<{ data: readonly JaegerTrace[] }> {
  const { actor, parameters, signal } = call
  const ids = parameters.getAll('traceID')
  if (ids.length > 0) return tracesById(world, call, ids)
  const query = searchQuery(parameters, world.clock.nowMs())
  const { traces } = await findTraces(world, actor, query, signal)
  const ofAll = traces.map(({ trace_id }) => trace_id)
  const bounds = boundsAround(traces.flatMap(({ start_time, duration_nano }) => [start_time, start_time + duration_nano / NS_PER_MS]))
  const datasets = await spanDatasets(world, actor)
  const { spans, isComplete } = await readTraceSpans(world, actor, { ids: ofAll, bounds, datasets, signal })
  const byTrace = Map.groupBy(spans, ({ traceId }) => traceId)
  return {
    data: ofAll.flatMap((id) => {
      const own = byTrace.get(id)
      return own ? [shownTrace(id, own, isComplete ? undefined : PARTIAL)] : []
    }),
  }
}

async function tracesById(world: World, call: ReadCall, ids: readonly string[]) {
  if (ids.length > LIMIT) throw badField('traceID', `must not be given more than ${LIMIT} times`)
  const data: JaegerTrace[] = []
  for (const id of ids) {
    const { traceId, spans, isComplete } = await findSpans(world, call.actor, withLeadingZeros(id), {}, call.signal)
    if (spans.length > 0) data.push(shownTrace(traceId, spans, isComplete ? undefined : PARTIAL))
  }
  return { data }
}

function searchQuery(parameters: URLSearchParams, nowMs: number): TracesQuery {
  const text = (name: string) => parameters.get(name)?.trim() || undefined
  const service = text('service')
  if (service === undefined) throw badField('service', 'is required', 'MISSING')
  const operation = text('operation')
  const toMs = millisecondsOf(parameters, 'end') ?? nowMs
  const lookbackNs = durationOf(parameters, 'lookback') ?? LOOKBACK_NS
  const fromMs = millisecondsOf(parameters, 'start')
  refuseOrder(fromMs, toMs)
  const also = tagFilters(parameters)
  return {
    service,
    ...(operation === undefined || operation === 'all' ? {} : { operation }),
    ...(also === undefined ? {} : { also }),
    ...durationsOf(parameters),
    from_ts: fromMs ?? Math.max(0, Math.floor(toMs - lookbackNs / NS_PER_MS)),
    to_ts: toMs,
    // Clients of the protocol have no place for a reason: Grafana shows the status only.
    limit: Math.min(TRACES_MAX, wholeParameter(parameters, 'limit', { otherwise: LIMIT, most: LIMIT_MAX })),
  }
}

function refuseOrder(fromMs: number | undefined, toMs: number | undefined): void {
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) throw badField('end', 'must not be before start')
}

function durationsOf(parameters: URLSearchParams): Pick<TracesQuery, 'min_duration' | 'max_duration'> {
  const [least, most] = [durationOf(parameters, 'minDuration'), durationOf(parameters, 'maxDuration')]
  if (least !== undefined && most !== undefined && least > most) throw badField('minDuration', 'must not be longer than maxDuration')
  return { ...(least === undefined ? {} : { min_duration: `${least}ns` }), ...(most === undefined ? {} : { max_duration: `${most}ns` }) }
}

/** A length of time such as `1h` or `1.5s`, in nanoseconds. */
function durationOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)?.trim()
  if (!text || (name === 'lookback' && text === 'custom')) return undefined
  const nanos = readDurations(text)
  if (nanos === undefined) throw badField(name, 'must be a length of time, such as 250ms or 1m30s')
  return nanos
}

/** As microseconds they would lie before 1973. */
const MILLISECONDS_BELOW = 1e14

/** Times of the protocol are microseconds since 1970. Grafana sends those of a trace by its id in milliseconds. */
function millisecondsOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name)?.trim()
  if (!text) return undefined
  if (!/^\d{1,16}$/.test(text)) throw badField(name, 'must be microseconds since 1970')
  const time = Number(text)
  return time < MILLISECONDS_BELOW ? time : Math.floor(time / US_PER_MS)
}

/** Tags are a JSON object of texts in `tags`, or `name:value` in each `tag`. A span must have all of them. */
function tagFilters(parameters: URLSearchParams): Filter | undefined {
  const tags: [string, unknown][] = parameters.getAll('tags').flatMap((text) => (text.trim() === '' ? [] : Object.entries(tagsIn(text))))
  for (const text of parameters.getAll('tag')) {
    const at = text.indexOf(':')
    if (at < 1) throw badField('tag', 'must be a name and a value with a colon between them')
    tags.push([text.slice(0, at), text.slice(at + 1)])
  }
  const filters = tags.map(([name, value]) => tagFilter(name, typeof value === 'string' ? value : JSON.stringify(value)))
  return filters.length === 0 ? undefined : filters.reduce(and)
}

function tagsIn(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isObject(parsed)) return parsed
  } catch {
    // Answered below.
  }
  throw badField('tags', 'must be a JSON object of texts')
}

/** The tags that the protocol derives from members of spans stand for those members. */
function tagFilter(name: string, value: string): Filter {
  if (name === 'error' && (value === 'true' || value === 'false')) {
    return value === 'true' ? isFailed : { kind: 'not', of: isFailed }
  }
  if (name === 'span.kind') return hasText('$span.kind', `SPAN_KIND_${value.toUpperCase()}`)
  if (name === 'otel.status_code') return hasText('$span.status_code', `STATUS_CODE_${value.toUpperCase()}`)
  if (name === 'otel.status_description') return hasText('$span.status_message', value)
  return hasText(`$${name}`, value)
}
