import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Series, TimeSlice } from './event-shapes.ts'
import { MetricQuery } from './metric-shapes.ts'
import { int64Given, lastOf, text, uuid } from './values.ts'

const TIME_MAX = 8_640_000_000_000_000

/** The assistant's proposal; its parts can be sent to `POST /metrics/definitions` and `POST /widgets`. */
const ProposedWidget = z
  .object({
    name: z.string(),
    type: z.enum(['line', 'bar', 'area', 'score', 'pie', 'treemap', 'top-list']),
    time_range: z.string(),
    metric: z.object({ name: z.string(), queries: z.array(MetricQuery) }),
  })
  .meta({ id: 'ProposedWidget' })
export type ProposedWidget = z.output<typeof ProposedWidget>

export const AiEvent = z
  .object({
    type: z.enum(['LOADING_MESSAGE', 'AI_RESPONSE_DELTA', 'QUERY_RESPONSE', 'RESPONSE_COMPLETED', 'ERROR']),
    message: z.string().optional().describe('The current step, or a part of the response text.'),
    session_id: uuid.optional(),
    query: z.string().optional().describe('The query that was run.'),
    groups_series: z.array(Series).optional(),
    totals: z.object({ timeseries: z.array(TimeSlice) }).optional(),
    widget: ProposedWidget.optional().describe('The widget that shows this query.'),
  })
  .meta({ id: 'AiEvent', description: "One event of an assistant's stream; the last is RESPONSE_COMPLETED or ERROR." })
export type AiEvent = z.output<typeof AiEvent>

const stream = { media: 'text/event-stream', reply: z.string().describe('Server-sent events, each with an AiEvent as its data.') } as const

export const assistants = {
  explainError: endpoint({
    method: 'GET',
    path: '/explain-error',
    permission: 'ai_use',
    tier: 'X',
    summary: 'Explain an event as a stream, from stored data; a configured model puts the explanation in words',
    query: z.object({
      timestamp: z.preprocess(
        (value) => {
          const one = lastOf(value)
          return typeof one === 'string' && /^\d{1,16}$/.test(one) ? Number(one) : one
        },
        z
          .int({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be epoch milliseconds') })
          .min(0)
          .max(TIME_MAX),
      ),
      sequence: int64Given,
      logId: z.preprocess(lastOf, uuid),
      zone_offset: z
        .preprocess(
          (value) => {
            const one = lastOf(value)
            // A plus that was not escaped arrives as a blank.
            return typeof one === 'string' ? one.replace(/^ /, '+') : one
          },
          z
            .string()
            .regex(/^(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$/, { error: 'must be like +02:00' })
            .optional(),
        )
        .describe('Time zone for the times in the text; UTC when absent.'),
    }),
    ...stream,
    fails: [404, 503],
  }),
  proposeWidget: endpoint({
    method: 'GET',
    path: '/widget-creation-assistant',
    permission: 'ai_use',
    tier: 'X',
    summary: 'Propose a widget for a request in plain words, with a preview, as a stream',
    query: z.object({
      userRequest: z.preprocess(lastOf, text(1, 2_000)),
      session_id: z
        .preprocess(lastOf, uuid.optional())
        .describe('Continues an earlier proposal; the new request changes only what it mentions.'),
    }),
    ...stream,
    fails: [503],
  }),
}
