import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Event, Explain, Link, ResultRow } from './event-shapes.ts'
import { EVENTS_MAX, sourceParameters, tagParameter } from './search.ts'
import { booleanParameter, int64Given, integerParameter, textParameter } from './values.ts'

const TIME_MAX = 8_640_000_000_000_000

const ContextResponse = z.object({ explain: Explain, events: z.array(Event), result: z.array(ResultRow), links: z.array(Link) })
export type ContextResponse = z.output<typeof ContextResponse>

export const context = {
  get: endpoint({
    method: 'GET',
    path: '/context',
    permission: 'search_read',
    tier: 'C',
    summary: 'List the events around an event, oldest first, with all their data',
    description: `The place is a time and a sequence number; no event needs to be there. Without a number it is the first event of that millisecond.
A context ends where no event came for 60 seconds; one with \`where\` reaches a minute for each event of its limit.`,
    query: z.object({
      ...sourceParameters,
      from_tags: tagParameter,
      timestamp: z.preprocess(
        (value) => {
          const one = Array.isArray(value) ? value.at(-1) : value
          return typeof one === 'string' && /^\d{1,16}$/.test(one) ? Number(one) : one
        },
        z
          .int({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be epoch milliseconds') })
          .min(0)
          .max(TIME_MAX),
      ),
      sequence: int64Given.optional(),
      from_sequence: int64Given.optional().describe('Another name of `sequence`.'),
      where: textParameter(32_768).describe(
        'Returns only the events that match, beside the given one: those of its service, host or trace.',
      ),
      direction: z.enum(['before', 'after', 'both']).optional().describe('`both` when absent.'),
      limit: integerParameter(1, EVENTS_MAX).describe('Total number of events, including the given one; 100 when absent.'),
      explain_only: booleanParameter.describe('Only estimates the cost of the query. The response always has `explain`.'),
    }),
    reply: ContextResponse,
    fails: [404, 503],
  }),
}
