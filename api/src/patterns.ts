import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { range, sources } from './search.ts'
import { int64, text, uuid } from './values.ts'

export const PatternRow = z
  .object({
    id: z
      .string()
      .describe('16 hex digits. The id of a family of patterns that differ only in values, or of a single pattern. It never changes.'),
    template: z.string().describe('The message with `<*>` in place of variable parts.'),
    log_id: uuid,
    count: int64.optional(),
  })
  .meta({ id: 'Pattern' })

export type PatternRow = z.output<typeof PatternRow>

const search_details = z
  .object({ ...sources, ...range, where: text(0, 32_768).optional() })
  .describe('Covers the last day unless a range is given.')

const Placeholder = z.object({
  kind: z
    .string()
    .describe(
      'What the values look like: `n`, `ip`, `uuid`, `hex`, `time`, `duration`, `size`, `path`, `url`, `email`, `host`, `word` or `text`.',
    ),
  count: int64.describe('The events in which it has a value.'),
  distinct: int64,
  values: z
    .array(
      z.object({
        value: z.string(),
        count: int64,
        where: z.string().optional().describe('A condition that selects exactly these events. Absent if none can be written.'),
      }),
    )
    .describe('The most frequent first.'),
})

const PatternValuesReply = z
  .object({
    id: z.string(),
    family: z.string().optional().describe('The family of the pattern.'),
    template: z.string(),
    text: z.string().describe('The template with the kind of each variable part, such as `<ip>`, or its value if there is only one.'),
    count: int64.describe('The matching events.'),
    placeholders: z.array(Placeholder).describe('The variable parts, in the order of the template.'),
  })
  .meta({ id: 'PatternValues' })

export const patterns = {
  find: endpoint({
    method: 'POST',
    path: '/patterns',
    permission: 'search_read',
    tier: 'C',
    summary: 'List the message patterns of matching events, most frequent first, at most 1,000',
    body: z.object({ search_details }),
    reply: z.object({ patterns: z.array(PatternRow) }),
    fails: [404, 503],
  }),
  values: endpoint({
    method: 'POST',
    path: '/patterns/values',
    permission: 'search_read',
    tier: 'X',
    summary: 'Count the values in place of the variable parts of a pattern',
    body: z.object({
      id: z
        .string()
        .regex(/^[0-9a-f]{16}$/, { error: 'must be 16 hex digits' })
        .describe('A pattern or a family, as `/patterns` and `@pattern` return it.')
        .meta({ examples: ['8f14e45fceea167a'] }),
      search_details,
      limit: z.int().min(1).max(100).optional().describe('The number of values of each variable part, by default 10.'),
    }),
    reply: PatternValuesReply,
    fails: [404, 503],
  }),
}
