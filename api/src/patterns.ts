import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { range, sources } from './search.ts'
import { int64, text, uuid } from './values.ts'

export const PatternRow = z
  .object({
    id: z.string().describe('16 hex digits, stable for the same template.'),
    template: z.string().describe('The message with `<*>` in place of variable parts.'),
    log_id: uuid,
    count: int64.optional(),
  })
  .meta({ id: 'Pattern' })

export type PatternRow = z.output<typeof PatternRow>

export const patterns = {
  find: endpoint({
    method: 'POST',
    path: '/patterns',
    permission: 'search_read',
    tier: 'C',
    summary: 'List the message patterns of matching events, most frequent first, at most 1,000',
    body: z.object({
      search_details: z
        .object({ ...sources, ...range, where: text(0, 32_768).optional() })
        .describe('Covers the last day unless a range is given.'),
    }),
    reply: z.object({ patterns: z.array(PatternRow) }),
    fails: [404, 503],
  }),
}
