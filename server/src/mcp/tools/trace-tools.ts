import { contract, TRACES_MAX, type Trace, type TraceSummary } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { counted } from '../counted.ts'
import { msOf } from '../durations.ts'
import { rangeOutput } from '../output-schema.ts'
import { rangeArguments, rangeFacts, rangeOfCall, timeText } from '../sources.ts'
import { type AgentTool, readingTool, type ToolContext } from '../tool.ts'

const NAME_CHARS = 120
const LOGS_MAX = 50
const SERVICES_SHOWN = 20
const ERRORS_SHOWN = 20

const { service, operation, status, min_duration, max_duration, spans, order } = contract.traces.find.query.shape
const { traceId } = contract.traces.get.params.shape
const count = z.int()
const ms = z.number()

const findTraces = readingTool({
  name: 'find_traces',
  title: 'Find traces',
  description:
    'Lists requests as traces, newest or slowest first: the root span with its duration, the services and the failed spans. A trace is listed if one of its spans meets all conditions. `trace_id` of a row is for trace.',
  permissions: ['search_read'],
  input: z.strictObject({
    where: z.string().max(65_536).optional().describe("Filter on a span; its fields begin with `$`: `$http.route = '/cart'`."),
    service,
    operation,
    status,
    min_duration,
    max_duration,
    spans,
    order,
    ...rangeArguments,
    limit: z.int().min(1).max(TRACES_MAX).default(20),
  }),
  output: {
    facts: { ...rangeOutput, has_more: z.boolean(), is_exact: z.boolean() },
    data: {
      traces: z.array(
        z.strictObject({
          trace_id: z.string(),
          start: z.string(),
          ms,
          service: z.string(),
          operation: z.string(),
          root_is_missing: z.literal(true).optional(),
          spans: count,
          failed_spans: count,
          services: z.array(z.string()),
          stands_for: z.number().optional(),
        }),
      ),
    },
  },
  run: async ({ time_range, from_ts, to_ts, ...conditions }, context) => {
    const bounds = rangeOfCall(context, { time_range, from_ts, to_ts })
    const query = { ...conditions, from_ts: bounds.fromMs, to_ts: bounds.toMs }
    const found = await context.call(contract.traces.find, { query })
    return {
      summary: `${found.has_more ? 'At least ' : ''}${counted(found.traces.length, 'trace')} in the range.`,
      link: appLink(context, 'traces', {
        q: conditions.where?.trim() || undefined,
        service: conditions.service,
        op: conditions.operation,
        status: conditions.status,
        min: conditions.min_duration,
        max: conditions.max_duration,
        order: conditions.order === 'slowest' ? conditions.order : undefined,
        any: conditions.spans === 'root' ? undefined : true,
        f: bounds.fromMs,
        t: bounds.toMs,
      }),
      facts: { ...rangeFacts(bounds), has_more: found.has_more, is_exact: found.is_exact },
      data: {
        traces: context.cuts.rows(
          found.traces.map((trace) => traceRow(trace, context)),
          conditions.limit,
          'raise limit, or add a condition',
        ),
      },
    }
  },
})

function traceRow(trace: TraceSummary, { cuts }: ToolContext) {
  const shown = trace.root ?? trace.found
  return {
    trace_id: trace.trace_id,
    start: timeText(trace.start_time),
    ms: msOf(trace.duration_nano),
    service: cuts.text(shown.service, NAME_CHARS),
    operation: cuts.text(shown.name, NAME_CHARS),
    ...(trace.root ? {} : { root_is_missing: true as const }),
    spans: trace.spans,
    failed_spans: trace.errors,
    services: trace.services.map((one) => cuts.text(one.service, NAME_CHARS)),
    ...(trace.weight === undefined ? {} : { stands_for: trace.weight }),
  }
}

const Step = z.strictObject({ service: z.string(), operation: z.string(), ms })

const trace = readingTool({
  name: 'trace',
  title: 'One trace',
  description:
    'Shows why a request was slow or failed: the time that each service took itself, the critical path, the origins of failures, the spans as a tree and the log events.',
  permissions: ['search_read'],
  argumentNames: new Map([['traceId', 'trace_id']]),
  input: z.strictObject({
    trace_id: traceId.describe('From find_traces, or the `trace_id` of an event.'),
    timestamp: z.int().min(0).max(8_640_000_000_000_000).optional().describe('A rough time in epoch milliseconds; makes the search short.'),
    limit: z.int().min(1).max(500).default(40).describe('Spans; of more, those with the longest time of their own.'),
  }),
  output: {
    facts: {
      trace_id: z.string(),
      start: z.string(),
      ms,
      spans_total: count,
      logs_total: count,
      errors_total: count,
      missing_spans: count,
      is_exact: z.boolean(),
    },
    data: {
      services: z.array(z.strictObject({ service: z.string(), spans: count, failed_spans: count, own_ms: ms })),
      critical_path: z.array(Step),
      errors: z.array(z.strictObject({ service: z.string(), operation: z.string(), message: z.string(), is_origin: z.boolean() })),
      spans: z.array(z.strictObject({ depth: count, start_ms: ms, own_ms: ms, failed: z.literal(true).optional(), ...Step.shape })),
      logs: z.array(z.strictObject({ time: z.string(), status: z.string(), text: z.string() })),
    },
  },
  run: async ({ trace_id, timestamp, limit }, context) => {
    const query = { logs: LOGS_MAX, ...(timestamp === undefined ? {} : { timestamp }) }
    const found = await context.call(contract.traces.get, { params: { traceId: trace_id }, query })
    const { cuts } = context
    const stepOf = (at: number) => nameOf(found, at, context)
    return {
      summary: `${counted(found.spans_total, 'span')} of ${counted(found.services.length, 'service')} in ${msOf(found.duration_nano)} ms, ${counted(found.errors_total, 'failed span')}, ${counted(found.logs_total, 'log event')}.`,
      link: appLink(context, 'traces', { id: found.trace_id, at: found.start_time }),
      facts: {
        trace_id: found.trace_id,
        start: timeText(found.start_time),
        ms: msOf(found.duration_nano),
        spans_total: found.spans_total,
        logs_total: found.logs_total,
        errors_total: found.errors_total,
        missing_spans: found.missing_spans.length,
        is_exact: found.is_exact,
      },
      data: {
        services: cuts.rows(
          found.services.map(({ service: name, spans: number, errors, self_nano }) => ({
            service: cuts.text(name, NAME_CHARS),
            spans: number,
            failed_spans: errors,
            own_ms: msOf(self_nano),
          })),
          SERVICES_SHOWN,
          'the link shows all services',
        ),
        critical_path: cuts.rows(
          longest(found.critical_path, limit, ({ duration_nano }) => duration_nano).map((step) => ({
            ...stepOf(step.span),
            ms: msOf(step.duration_nano),
          })),
          limit,
          'raise limit',
        ),
        errors: cuts.rows(
          found.errors.map(({ span, message, is_origin }) => ({ ...stepOf(span), message: cuts.text(message), is_origin })),
          ERRORS_SHOWN,
          'the link shows all failures',
        ),
        spans: cuts.rows(
          longest([...found.spans.entries()], limit, ([, span]) => span.self_nano).map(([at, span]) => ({
            depth: span.depth,
            ...stepOf(at),
            start_ms: msOf(span.start_nano),
            ms: msOf(span.duration_nano),
            own_ms: msOf(span.self_nano),
            ...(span.status === 'error' ? { failed: true as const } : {}),
          })),
          limit,
          'raise limit',
        ),
        logs: cuts.rows(
          found.logs.map(({ event }) => ({
            time: event['@time'],
            status: event['@status'],
            text: cuts.text(event.message_kvs.message ?? event['@raw'] ?? ''),
          })),
          LOGS_MAX,
          'search finds them all by trace_id',
        ),
      },
    }
  },
})

const nameOf = ({ spans: all }: Trace, at: number, { cuts }: ToolContext) => ({
  service: cuts.text(all[at]?.service ?? '', NAME_CHARS),
  operation: cuts.text(all[at]?.name ?? '', NAME_CHARS),
})

/** Keeps the items with the largest sizes, in their order. */
function longest<T>(items: readonly T[], max: number, sizeOf: (item: T) => number): readonly T[] {
  if (items.length <= max) return items
  const kept = new Set(items.toSorted((one, other) => sizeOf(other) - sizeOf(one)).slice(0, max))
  return items.filter((item) => kept.has(item))
}

export const traceTools: readonly AgentTool[] = [findTraces, trace]
