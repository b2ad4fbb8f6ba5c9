import { z } from 'zod'
import { Finding } from './changes.ts'
import { endpoint } from './endpoint.ts'
import { Event } from './event-shapes.ts'
import { rangeParameters, sourceParameters } from './search.ts'
import { booleanParameter, int64, integerParameter, lastOf, ms, textParameter, uuid } from './values.ts'

export const TRACE_SPANS_MAX = 20_000
export const TRACE_LOGS_MAX = 10_000
export const TRACES_MAX = 100
export const OPERATIONS_MAX = 200
export const CALLS_MAX = 500
const WHERE_MAX = 65_536

const texts = z.record(z.string(), z.string())
const SpanStatus = z.enum(['unset', 'ok', 'error'])
const nano = z.int().describe('Nanoseconds after the start of the trace.')
const length = z.int().min(0).describe('Nanoseconds.')

const SpanEvent = z.object({ name: z.string(), start_nano: nano.optional(), attributes: texts })
const SpanLink = z.object({ trace_id: z.string(), span_id: z.string(), attributes: texts })

const Span = z
  .object({
    span_id: z.string(),
    parent_span_id: z.string().optional().describe('Absent on a root.'),
    parent: z
      .enum(['none', 'present', 'missing', 'cyclic'])
      .describe(
        '`missing`: the parent has not arrived, or was not read. `cyclic`: the span is an ancestor of its parent; the tree begins at it.',
      ),
    depth: z.int().min(0).describe('0 for a span without a parent in the trace.'),
    descendants: z.int().min(0).describe('The number of spans that follow it in the list and lie below it.'),
    name: z.string(),
    kind: z.string().describe('Such as `SPAN_KIND_SERVER`.'),
    service: z.string(),
    status: SpanStatus,
    status_message: z.string().optional(),
    start_nano: nano.describe('Nanoseconds after the start of the trace, with the skew of the clock corrected.'),
    duration_nano: length,
    self_nano: length.describe('The time in which none of its child spans ran.'),
    critical_nano: length.describe('The time that it has on the critical path.'),
    skew_nano: z
      .int()
      .optional()
      .describe('What was added to its start, because its clock disagrees with that of its parent. Absent for 0.'),
    start_time_unix_nano: z.string().describe('The start as the sender wrote it.'),
    events: z.array(SpanEvent),
    links: z.array(SpanLink),
    attributes: texts.describe('The attributes of the span and of its resource; names begin with `$`.'),
    log_id: uuid.describe('The dataset of the span.'),
    timestamp: ms,
    sequence: int64,
  })
  .meta({ id: 'Span' })

const TraceLog = z.object({
  span_id: z.string().optional().describe('The span that it names. Absent if it names none.'),
  start_nano: nano,
  event: Event,
})

const Trace = z
  .object({
    trace_id: z.string().describe('32 hex digits in lower case.'),
    start_time: ms,
    start_time_unix_nano: z.string().describe('The start of the earliest span, or the time of the first event when there are no spans.'),
    duration_nano: length,
    root: z
      .int()
      .min(0)
      .optional()
      .describe('The position of the root span in `spans`: the longest one without a parent. Absent without spans.'),
    spans: z.array(Span).describe('Each parent before its children, siblings by their start.'),
    spans_total: z.int().min(0),
    logs: z.array(TraceLog).describe('The events with this trace id that are not spans, oldest first.'),
    logs_total: z.int().min(0),
    services: z
      .array(z.object({ service: z.string(), spans: z.int(), errors: z.int(), self_nano: length }))
      .describe('By the time that their spans took themselves, longest first.'),
    critical_path: z
      .array(z.object({ span: z.int().min(0).describe('The position in `spans`.'), start_nano: nano, duration_nano: length }))
      .describe('The stretches of time that determined how long the root span took, in their order.'),
    errors: z
      .array(
        z.object({
          span: z.int().min(0).describe('The position in `spans`.'),
          message: z.string(),
          is_origin: z.boolean().describe('No span below it failed.'),
        }),
      )
      .describe('Failed spans, at most 100; origins first.'),
    errors_total: z.int().min(0),
    missing_spans: z.array(z.string()).describe('Ids of parents that have not arrived.'),
    duplicates: z.int().min(0).describe('Copies of spans, which are left out.'),
    is_exact: z.boolean().describe('False if there are more spans or events than were read.'),
  })
  .meta({ id: 'Trace' })
export type Trace = z.output<typeof Trace>

const SpanSummary = z
  .object({
    span_id: z.string(),
    service: z.string(),
    name: z.string(),
    status: SpanStatus,
    start_time_unix_nano: z.string(),
    duration_nano: length,
  })
  .meta({ id: 'SpanSummary' })

const TraceSummary = z
  .object({
    trace_id: z.string().describe('32 hex digits in lower case.'),
    start_time: ms,
    start_time_unix_nano: z.string().describe('The start of the earliest span, as the senders wrote it.'),
    duration_nano: length.describe('From the start of the earliest span to the end of the latest. Clocks are not corrected here.'),
    spans: z.int().min(0),
    errors: z.int().min(0).describe('Failed spans.'),
    services: z.array(z.object({ service: z.string(), spans: z.int(), errors: z.int() })).describe('Most spans first, at most 20.'),
    services_total: z.int().min(0),
    root: SpanSummary.optional().describe('The longest span without a parent. Absent if none has arrived.'),
    found: SpanSummary.describe('The first of the matching spans in the requested order.'),
    weight: z.number().min(1).optional().describe('How many traces it stands for, as an ingest rule stores a share of them. Absent for 1.'),
  })
  .meta({ id: 'TraceSummary' })
export type TraceSummary = z.output<typeof TraceSummary>

const TraceList = z
  .object({
    traces: z.array(TraceSummary),
    has_more: z.boolean().describe('More traces match. Narrow the range or the filter, or raise the limit.'),
    durations: z
      .array(
        z.object({
          from_nano: length,
          to_nano: length.optional().describe('Exclusive. Absent for the last one, which has no end.'),
          spans: z.int().min(0),
          errors: z.int().min(0).describe('Failed spans.'),
        }),
      )
      .optional()
      .describe('The number of matching spans by duration, whatever min_duration and max_duration are. Present with `durations`.'),
    is_sampled: z
      .boolean()
      .describe(
        'True if an ingest rule has stored only a share of the traces of matching spans. Numbers in `durations` are then estimates: each stored span counts for those that it stands for.',
      ),
    is_exact: z
      .boolean()
      .describe('False if spans crowd out traces that would come earlier, or if traces have more spans than were counted.'),
  })
  .meta({ id: 'TraceList' })
export type TraceList = z.output<typeof TraceList>

const OperationStats = z
  .object({
    service: z.string(),
    operation: z.string().describe('The name of the spans.'),
    spans: z.int().min(0),
    per_second: z.number().min(0).describe('Spans a second over the whole range.'),
    errors: z.int().min(0).describe('Failed spans.'),
    p50_nano: length
      .optional()
      .describe(
        'Absent where no span has a duration. Exact for up to some 2 million spans, as are the other percentiles, and estimated for more.',
      ),
    p95_nano: length.optional(),
    p99_nano: length.optional(),
    max_nano: length.optional().describe('Exact.'),
  })
  .meta({ id: 'OperationStats' })

const OperationList = z
  .object({
    operations: z.array(OperationStats).describe('In the requested order.'),
    operations_total: z.int().min(0),
    is_exact: z
      .boolean()
      .describe(
        'False when percentiles are estimates, because there are too many spans. Numbers of spans and failures are exact, unless an ingest rule has sampled whole traces: then each stored span counts for those that it stands for, percentiles are those of the stored ones, and this is false.',
      ),
  })
  .meta({ id: 'OperationList' })
export type OperationList = z.output<typeof OperationList>

const ServiceCalls = z
  .object({
    from: z.string().describe('The service that calls. Empty for spans without a service.'),
    to: z.string().describe('The service that is called, or the name of a peer.'),
    kind: z
      .enum(['service', 'database', 'queue', 'peer'])
      .describe('`service`: `to` sent the spans of the calls. Otherwise it sends none, and the span of the caller names it.'),
    calls: z.int().min(0),
    per_second: z.number().min(0).describe('Calls a second over the whole range.'),
    errors: z.int().min(0).describe('Calls whose span failed.'),
    p50_nano: length.describe('How long the span of the called service took; for peers that of the caller.'),
    p95_nano: length,
    max_nano: length.describe('The longest call of those that were read.'),
  })
  .meta({ id: 'ServiceCalls' })

const CallList = z
  .object({
    services: z
      .array(z.object({ service: z.string(), spans: z.int().min(0), errors: z.int().min(0).describe('Failed spans.') }))
      .describe(
        'The services that sent spans, most spans first, at most 200. The numbers are exact, unless an ingest rule has sampled whole traces: then each stored span counts for those that it stands for.',
      ),
    services_total: z.int().min(0),
    calls: z.array(ServiceCalls).describe('Most calls first.'),
    calls_total: z.int().min(0).describe('The number of pairs of services, those beyond the limit included.'),
    spans_total: z.int().min(0).describe('The number of stored spans in the range.'),
    spans_read: z.int().min(0).describe('The number of spans that the calls were counted in: those of whole traces.'),
    is_exact: z.boolean().describe('False if only a part of the traces was read or stored; the numbers of calls are then estimates.'),
  })
  .meta({ id: 'CallList' })
export type CallList = z.output<typeof CallList>

export const DIFFERENCES_MAX = 50

const TraceDifferences = z
  .object({
    traces: z.int().min(0).describe('How many traces with a span that meets all conditions were compared.'),
    spans: z.int().min(0).describe('The number of their spans.'),
    other_traces: z.int().min(0).describe('How many of the others they were compared with.'),
    other_spans: z.int().min(0),
    summary: z.string().describe('Both numbers of spans, and the first finding, as sentences.'),
    findings: z
      .array(Finding)
      .describe(
        'The most telling first. `count` and `share` are of the spans of the traces, `baseline_count` and `baseline_share` of those of the others.',
      ),
    findings_total: z.int().min(0),
    is_sampled: z
      .boolean()
      .describe('True if an ingest rule has stored only a share of some of these traces. All numbers are of stored traces and spans.'),
    is_exact: z
      .boolean()
      .describe('False if there are more traces than were compared: then they are the newest ones of each quarter of the range.'),
  })
  .meta({ id: 'TraceDifferences' })

const DURATION = /^[0-9]{1,15}(?:[.][0-9]{1,9})?(?:ns|us|ms|s|m|h)$/
const duration = (meaning: string) =>
  z
    .preprocess(
      lastOf,
      z.string().regex(DURATION, { error: 'must be a number and a unit of ns, us, ms, s, m or h, such as 250ms' }).optional(),
    )
    .describe(meaning)
    .meta({ examples: ['250ms'] })

const TRACE_ID = /^(?:(?:0x)?(?:[0-9A-Fa-f]-?){16}(?:(?:[0-9A-Fa-f]-?){16})?|[A-Za-z0-9+/_-]{22}(?:==)?)$/

/** Any usual form of a trace id. */
const traceId = z
  .string()
  .max(100, { error: 'must be at most 100 characters' })
  .regex(TRACE_ID, { error: 'must be 32 or 16 hex digits, or 16 bytes in base64' })
  .describe('32 or 16 hex digits, in any case, with or without dashes; or the 16 bytes in base64.')
  .meta({ examples: ['5b8efff798038103d269b633813fc60c'] })

/** The conditions on a span. */
const spanConditions = {
  where: textParameter(WHERE_MAX).describe("A filter on one span, such as `$http.route = '/cart'`."),
  service: textParameter(1_024),
  operation: textParameter(4_096).describe('The name of the span.'),
  status: z.preprocess(lastOf, SpanStatus.optional()),
  min_duration: duration('The shortest duration of the span, inclusive.'),
  max_duration: duration('The longest duration of the span, inclusive.'),
  spans: z
    .preprocess(lastOf, z.enum(['any', 'root']).optional())
    .describe('Which spans may meet the conditions; `root` for those without a parent. `any` when absent.'),
}

export const traces = {
  find: endpoint({
    method: 'GET',
    path: '/traces',
    permission: 'search_read',
    tier: 'D',
    summary: 'Find traces by their spans: newest or slowest first',
    description: `A trace is found if one of its spans meets all conditions together. Its row describes the whole trace, so far as the caller may see it:
the spans within an hour of those that match. Without \`from\` and \`from_expr\` all datasets of the collection \`.traces\` are searched; without a time the last hour.`,
    query: z.object({
      ...sourceParameters,
      ...rangeParameters,
      ...spanConditions,
      order: z
        .preprocess(lastOf, z.enum(['newest', 'slowest']).optional())
        .describe('By the newest or the longest span that matches; `newest` when absent.'),
      limit: integerParameter(1, TRACES_MAX).describe('The maximum number of traces; 20 when absent.'),
      durations: booleanParameter.describe('Also counts the matching spans by duration.'),
    }),
    reply: TraceList,
    fails: [404, 503],
  }),
  differences: endpoint({
    method: 'GET',
    path: '/traces/differences',
    permission: 'search_read',
    tier: 'D',
    summary: 'Find what slow or failed traces have that others have not',
    description: `Compares the spans of traces with a span that meets all conditions with those of traces in which a span meets all of them but \`status\`, \`min_duration\` and \`max_duration\`,
of which there must be one. Attributes of any span count, such as the customer of the root and the version of a service below it.
Without \`from\` and \`from_expr\` all datasets of the collection \`.traces\` are searched; without a time the last hour.`,
    query: z.object({
      ...sourceParameters,
      ...rangeParameters,
      ...spanConditions,
      limit: integerParameter(1, DIFFERENCES_MAX).describe('The maximum number of findings; 20 when absent.'),
    }),
    reply: TraceDifferences,
    fails: [404, 503],
  }),
  operations: endpoint({
    method: 'GET',
    path: '/traces/operations',
    permission: 'search_read',
    tier: 'D',
    summary: 'List services and their operations: how often, how slow, how many failures',
    description: `Counts spans by service and name. Without \`from\` and \`from_expr\` all datasets of the collection \`.traces\` are searched; without a time the last hour.`,
    query: z.object({
      ...sourceParameters,
      ...rangeParameters,
      where: textParameter(WHERE_MAX).describe("A filter on spans, such as `$span.kind = 'SPAN_KIND_SERVER'`."),
      service: textParameter(1_024),
      spans: z
        .preprocess(lastOf, z.enum(['any', 'root']).optional())
        .describe('Which spans are counted; `root` for those without a parent. `any` when absent.'),
      order: z
        .preprocess(lastOf, z.enum(['busiest', 'slowest', 'failing']).optional())
        .describe('By the number of spans, the 95th percentile or the number of failures; `busiest` when absent.'),
      limit: integerParameter(1, OPERATIONS_MAX).describe('The maximum number of operations; 100 when absent.'),
    }),
    reply: OperationList,
    fails: [404, 503],
  }),
  calls: endpoint({
    method: 'GET',
    path: '/traces/calls',
    permission: 'search_read',
    tier: 'D',
    summary: 'List which services call which: how often, how slow, how many failures',
    description: `A call is a span whose parent is a span of another service, or a span of a client or a producer that names a peer without spans of its own.
If the range has many spans, a part of its traces is read, chosen by the ends of their ids, and the numbers of calls are estimated from it.
Without \`from\` and \`from_expr\` all datasets of the collection \`.traces\` are searched; without a time the last hour.`,
    query: z.object({
      ...sourceParameters,
      ...rangeParameters,
      service: textParameter(1_024).describe('Only calls from or to this service.'),
      limit: integerParameter(1, CALLS_MAX).describe('The maximum number of pairs of services; 200 when absent.'),
    }),
    reply: CallList,
    fails: [404, 503],
  }),
  get: endpoint({
    method: 'GET',
    path: '/traces/{traceId}',
    permission: 'search_read',
    tier: 'D',
    summary: 'Get a trace: its spans as a tree, their logs, services, errors and the critical path',
    description: `Reads all datasets that the caller may see. Without a time the newest day is searched first, then everything that is kept.
The skew of clocks is corrected where a span would begin before its parent, or a server would answer after its client had the response; \`skew_nano\` marks it.`,
    params: z.object({ traceId }),
    query: z.object({
      ...rangeParameters,
      timestamp: integerParameter(0, 8_640_000_000_000_000).describe(
        'A rough time in epoch milliseconds: an hour to each side is searched first. Excludes a range.',
      ),
      logs: integerParameter(0, TRACE_LOGS_MAX).describe('The maximum number of events that are not spans; 1,000 when absent.'),
    }),
    reply: Trace,
    fails: [404, 503],
  }),
}
