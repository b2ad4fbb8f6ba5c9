import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Event } from './event-shapes.ts'
import { rangeParameters } from './search.ts'
import { int64, integerParameter, ms, uuid } from './values.ts'

export const TRACE_SPANS_MAX = 20_000
export const TRACE_LOGS_MAX = 10_000

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

const TRACE_ID = /^(?:(?:0x)?(?:[0-9A-Fa-f]-?){16}(?:(?:[0-9A-Fa-f]-?){16})?|[A-Za-z0-9+/_-]{22}(?:==)?)$/

/** Any usual form of a trace id. */
const traceId = z
  .string()
  .max(100, { error: 'must be at most 100 characters' })
  .regex(TRACE_ID, { error: 'must be 32 or 16 hex digits, or 16 bytes in base64' })
  .describe('32 or 16 hex digits, in any case, with or without dashes; or the 16 bytes in base64.')
  .meta({ examples: ['5b8efff798038103d269b633813fc60c'] })

export const traces = {
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
