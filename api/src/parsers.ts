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
    enabled: z.boolean().describe('A disabled parser is not applied, even where it is assigned.'),
    log_lines: z.array(z.string()).optional().describe('The lines that the pattern was inferred from.'),
    parsed_lines: z.array(keyValues).optional().describe('The keys and values that the pattern extracts from them.'),
    description: z.string().optional(),
    metadata: Metadata.optional(),
  })
  .meta({ id: 'Parser', description: 'A pattern that extracts keys and values from lines.' })
export type Parser = z.output<typeof Parser>

const ParserMetrics = z
  .object({ total_lines: z.int(), matched_lines: z.int(), error_lines: z.int(), match_ratio: z.number() })
  .meta({ id: 'ParserMetrics', description: 'Error lines exceeded the time limit of the pattern.' })

const fields = {
  name: text(1, NAME_CHARS_MAX).optional(),
  description: text(8, 512).optional(),
  pattern: text(1, PATTERN_CHARS_MAX).optional(),
}

const metricsQuery = z.object({
  ...rangeParameters,
  log_id: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), uuid.optional()).describe('Only this log.'),
  limit: integerParameter(1, 100).describe('Number of logs, the busiest first; 50 when absent.'),
  num_of_slices: integerParameter(1, 720),
  delta: booleanParameter.describe('Compares with an earlier period; by default the one just before.'),
  delta_time_range: textParameter(255),
  delta_from_ts: rangeParameters.from_ts,
  delta_to_ts: rangeParameters.to_ts,
})

const metricsReply = z.object({
  log_id: z.string().describe('The busiest or the requested log; empty when there is none.'),
  match_ratio: z.array(Series).describe('One series per log: the share of its lines that matched.'),
  latency_ns: z.array(Series).describe('One series per log: nanoseconds per line.'),
})

export const parsers = {
  list: endpoint({
    method: 'GET',
    path: '/parsers',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'List parsers, built-in parsers first',
    reply: z.object({ parsers: z.array(Parser) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/parsers',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Create a parser from a pattern, or infer one from recent lines of a log',
    description:
      'The pattern is GROK, `%{IP:client}`, or DISSECT, `%{client}`; the type is detected. The parser must be enabled and assigned to take effect.',
    body: z.object({
      log_id: uuid.describe('The dataset that the parser is for.'),
      ...fields,
      type: patternType.optional().describe('Detected from the pattern when absent.'),
    }),
    status: 201,
    reply: Parser,
    fails: [503],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/parsers/{parserId}',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Update a parser; an absent `enabled` disables it',
    body: z.object({ log_id: uuid.optional(), ...fields, type: patternType.optional(), enabled: z.boolean().default(false) }),
    reply: Parser,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/parsers/{parserId}',
    permission: 'parsers_delete',
    tier: 'X',
    summary: 'Delete a parser and unassign it from its datasets',
    fails: [404],
  }),
  assigned: endpoint({
    method: 'GET',
    path: '/datasets/{datasetId}/parser',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'Get the parser of a dataset; 404 when it has none',
    reply: z.object({ parser_id: uuid, parser_name: z.string() }),
    fails: [404],
  }),
  assign: endpoint({
    method: 'PUT',
    path: '/datasets/{datasetId}/parser',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Assign a parser to a dataset, for events received from then on',
    body: z.object({ parser_id: uuid }),
    fails: [404],
  }),
  unassign: endpoint({
    method: 'DELETE',
    path: '/datasets/{datasetId}/parser',
    permission: 'parsers_write',
    tier: 'X',
    summary: 'Unassign the parser of a dataset',
    fails: [404],
  }),
  test: endpoint({
    method: 'POST',
    path: '/parsers/test',
    permission: 'parsers_read',
    tier: 'X',
    summary: 'Try a pattern on lines without storing anything',
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
    summary: 'Suggest parsers for lines, or for recent lines of a log',
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
    summary: 'Get the parse time and number of lines by log',
    query: metricsQuery,
    reply: metricsReply,
    fails: [404],
  }),
  ratio: endpoint({
    method: 'GET',
    path: '/parsers/metrics/ratio',
    permission: 'usage_read',
    tier: 'X',
    summary: 'Get the share of lines that parsers matched, by log',
    query: metricsQuery,
    reply: metricsReply,
    fails: [404],
  }),
}
