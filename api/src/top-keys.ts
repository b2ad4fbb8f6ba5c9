import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { range, rangeParameters, sources } from './search.ts'
import { int64, integerParameter, listParameter, text, textParameter, uuid } from './values.ts'

const KEYS_MAX = 1_000
const SAMPLE_KEYS_MAX = 5_000

const TopKey = z
  .object({
    type: z.enum(['STRING', 'NUMBER', 'BOOLEAN']),
    field_type: z.enum(['ATTRIBUTE', 'MESSAGE_KVP']),
    rank: z.int().describe('Occurrences in the sample.'),
    values: z.record(z.string(), z.object({ value: z.string(), rank: z.int() })).describe('The most frequent values, at most 10.'),
  })
  .meta({ id: 'TopKey' })
export type TopKey = z.output<typeof TopKey>

const SampledKey = z
  .object({
    key: z.string(),
    type: TopKey.shape.type.optional().describe('Absent when no event of the sample has the key.'),
    field_type: TopKey.shape.field_type,
    count: int64.describe('The matching events that have the key: exact if `are_counts_exact`, otherwise estimated from the sample.'),
    values: z
      .array(z.object({ value: z.string(), count: int64 }))
      .describe('The most frequent values in the sample, at most 10, with estimated counts; exact if `is_exact`.'),
  })
  .meta({ id: 'SampledKey' })
export type SampledKey = z.output<typeof SampledKey>

const KeySample = z
  .object({
    count: int64.describe('The matching events, exactly.'),
    sampled: z.int().describe('How many of them the sample has.'),
    is_exact: z.boolean().describe('Whether the sample has every matching event.'),
    are_counts_exact: z.boolean().describe('Whether every matching event was counted for the counts of keys.'),
    is_cut: z.boolean().describe('Whether there are more keys than `limit`, or datasets with keys that were not found out.'),
    keys: z.array(SampledKey).describe('The most frequent first.'),
  })
  .meta({ id: 'KeySample' })

export const topKeys = {
  get: endpoint({
    method: 'GET',
    path: '/top-keys',
    permission: 'search_read',
    tier: 'C',
    summary: 'Get the most frequent keys of logs from a sample of their newest events',
    query: z.object({
      log_id: listParameter(uuid).describe('All logs the caller may see when absent.'),
      from_expr: textParameter().describe('A dataset selector; takes precedence over `log_id`.'),
      ...rangeParameters,
      limit: integerParameter(1, KEYS_MAX).describe('Maximum number of keys per log; 100 when absent.'),
    }),
    reply: z.record(uuid, z.record(z.string(), TopKey)),
    fails: [404, 503],
  }),
  sample: endpoint({
    method: 'POST',
    path: '/top-keys',
    permission: 'search_read',
    tier: 'X',
    summary: 'List the most frequent keys of matching events, with values from an even sample of the time range',
    body: z.object({
      ...sources,
      ...range,
      where: text(0, 32_768).optional().describe('The filter; every event when absent.'),
      limit: z.int().min(1).max(SAMPLE_KEYS_MAX).optional().describe('Maximum number of keys; 100 when absent.'),
      estimate: z.boolean().optional().describe('Whether the sample is enough for the counts, which costs less.'),
      exact: z
        .boolean()
        .optional()
        .describe(
          'Whether every matching event is counted, however many there are, within the limits of a query. Without it, counts over very many events are estimates.',
        ),
    }),
    reply: KeySample,
    fails: [404, 503],
  }),
}
