import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Series } from './event-shapes.ts'
import { rangeParameters } from './search.ts'
import { booleanParameter, integerParameter, Metadata, mapOf, text, textParameter, uuid } from './values.ts'

const NAME_CHARS_MAX = 100
const PATTERN_CHARS_MAX = 2_048
const LINES_MAX = 1_000
const LINE_CHARS_MAX = 1_048_576
const KEYS_MAX = 1_000

const patternType = z.enum(['GROK', 'DISSECT'])
const keyValues = mapOf(z.string(), KEYS_MAX)
const lines = z
  .array(z.string().max(LINE_CHARS_MAX, { error: `must be at most ${LINE_CHARS_MAX} characters` }))
  .min(1, { error: 'must have at least 1 item' })
  .max(LINES_MAX, { error: `must have at most ${LINES_MAX} items` })

export const Parser = z
  .object({
    id: uuid,
    name: z.string(),
    pattern: z.string().optional().describe('Absent on built-in parsers.'),
    type: z.enum(['GROK', 'DISSECT', 'JAVA']).describe('`JAVA` is built-in detection.'),
    scope: z.enum(['SYSTEM', 'ORGANISATION']),
    ai_generated: z.boolean().optional(),
    enabled: z.boolean().describe('A parser that is not enabled is not applied, also where it is assigned.'),
    log_lines: z.array(z.string()).optional().describe('Lines that the pattern was made from.'),
    parsed_lines: z.array(keyValues).optional().describe('What the pattern makes of them.'),
    description: z.string().optional(),
    metadata: Metadata.optional(),
  })
  .meta({ id: 'Parser', description: 'Says how lines become keys and values.' })
export type Parser = z.output<typeof Parser>

const ParserMetrics = z
  .object({ total_lines: z.int(), matched_lines: z.int(), error_lines: z.int(), match_ratio: z.number() })
  .meta({ id: 'ParserMetrics', description: 'Error lines are those that would have taken the pattern too long.' })

const fields = {
  name: text(1, NAME_CHARS_MAX).optional(),
  description: text(8, 512).optional(),
  pattern: text(1, PATTERN_CHARS_MAX).optional(),
}

const metricsQuery = z.object({
  ...rangeParameters,
  log_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()).describe('Only this log.'),
  limit: integerParameter(1, 100).describe('The busiest logs; 50 when absent.'),
  num_of_slices: integerParameter(1, 720),
  delta: booleanParameter.describe('Compare with an earlier period: the one just before when none is named.'),
  delta_time_range: textParameter(255),
  delta_from_ts: rangeParameters.from_ts,
  delta_to_ts: rangeParameters.to_ts,
})

const metricsReply = z.object({
  log_id: z.string().describe('The busiest log, or the one that was asked for; empty when there is none.'),
  match_ratio: z.array(Series).describe('One series for each log: the share of its lines that fitted.'),
  latency_ns: z.array(Series).describe('One series for each log: nanoseconds a line took.'),
})

export const parsers = {
  list: endpoint({
    method: 'GET',
    path: '/parsers',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'All parsers, the built-in ones first',
    reply: z.object({ parsers: z.array(Parser) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/parsers',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Register a pattern as a parser, or infer one from recent lines of a log',
    description:
      'The pattern is GROK, `%{IP:client}`, or DISSECT, `%{client}`; which of the two shows in it. The parser has to be enabled and assigned.',
    body: z.object({
      log_id: uuid.describe('The dataset whose lines it is for.'),
      ...fields,
      type: patternType.optional().describe('Absent reads it from the pattern.'),
    }),
    status: 201,
    reply: Parser,
    fails: [404, 503],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/parsers/{parserId}',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Change a parser; an absent `enabled` switches it off',
    body: z.object({ log_id: uuid.optional(), ...fields, type: patternType.optional(), enabled: z.boolean().default(false) }),
    reply: Parser,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/parsers/{parserId}',
    permission: 'parsers_delete',
    tier: 'X',
    summary: 'Delete a parser; datasets that have it are left without one',
    fails: [404],
  }),
  assigned: endpoint({
    method: 'GET',
    path: '/datasets/{datasetId}/parser',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'The parser of a dataset; 404 when it has none',
    reply: z.object({ parser_id: uuid, parser_name: z.string() }),
    fails: [404],
  }),
  assign: endpoint({
    method: 'PUT',
    path: '/datasets/{datasetId}/parser',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Give a dataset a parser, for the events received from then on',
    body: z.object({ parser_id: uuid }),
    fails: [404],
  }),
  unassign: endpoint({
    method: 'DELETE',
    path: '/datasets/{datasetId}/parser',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Leave a dataset without a parser',
    fails: [404],
  }),
  test: endpoint({
    method: 'POST',
    path: '/parsers/test',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'Try a pattern on lines; nothing is kept',
    body: z.object({ pattern: text(1, PATTERN_CHARS_MAX), type: patternType.optional(), lines }),
    reply: z.object({
      metrics: ParserMetrics,
      results: z.array(z.object({ raw: z.string(), matched: z.boolean(), key_values: keyValues })),
    }),
  }),
  detect: endpoint({
    method: 'POST',
    path: '/parsers/detect',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'Which parsers fit lines, or the recent lines of a log',
    body: z.object({ lines: lines.optional(), log_id: uuid.optional() }),
    reply: z.object({
      recommended_parser_id: z.string().describe('Empty when none fits.'),
      candidates: z.array(z.object({ parser_id: uuid, coverage: z.number(), metrics: ParserMetrics })),
    }),
    fails: [404, 503],
  }),
  usage: endpoint({
    method: 'GET',
    path: '/parsers/metrics/usage',
    permission: 'usage_read',
    tier: 'X',
    summary: 'How long parsers took, and how many lines they read, by log',
    query: metricsQuery,
    reply: metricsReply,
    fails: [404],
  }),
  ratio: endpoint({
    method: 'GET',
    path: '/parsers/metrics/ratio',
    permission: 'usage_read',
    tier: 'X',
    summary: 'The share of lines that parsers matched, by log',
    query: metricsQuery,
    reply: metricsReply,
    fails: [404],
  }),
}
