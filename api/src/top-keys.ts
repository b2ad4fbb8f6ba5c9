import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { rangeParameters } from './search.ts'
import { integerParameter, listParameter, textParameter, uuid } from './values.ts'

const KEYS_MAX = 1_000

const TopKey = z
  .object({
    type: z.enum(['STRING', 'NUMBER', 'BOOLEAN']),
    field_type: z.enum(['ATTRIBUTE', 'MESSAGE_KVP']),
    rank: z.int().describe('Occurrences in the sample.'),
    values: z.record(z.string(), z.object({ value: z.string(), rank: z.int() })).describe('The most frequent values, at most 10.'),
  })
  .meta({ id: 'TopKey' })
export type TopKey = z.output<typeof TopKey>

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
}
