import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Delta, Quantiles, Series } from './event-shapes.ts'
import { rangeParameters } from './search.ts'
import { booleanParameter, integerParameter, listParameter, textParameter, uuid } from './values.ts'

const USAGE_TYPES = ['ingestion', 'search', 'export'] as const
const SLICES_MAX = 1_440
const USER_SLICES_MAX = 720

const UsageSeries = z
  .object({
    name: z.string(),
    filter: z.string().describe('The part of the usage that is counted.'),
    stat: z.string(),
    key: z.string().describe('The key that the statistic is computed from.'),
    is_exact: z
      .boolean()
      .describe(
        'false when slices do not begin on full minutes (for older usage, full hours or days), or when recounted events have unknown bytes.',
      ),
    groups_series: z.array(Series),
    delta: Delta.optional(),
  })
  .meta({ id: 'UsageSeries' })
export type UsageSeries = z.output<typeof UsageSeries>

const UsageSlice = z
  .object({ '@timestamp': z.string(), '@time': z.string(), count: z.string(), value: z.string(), quantiles: Quantiles })
  .meta({ id: 'UsageSlice', description: 'A slice with its numbers as text.' })

export const MetricItem = UsageSeries.extend({
  id: z.string(),
  group_keys: z.array(z.string()),
  logs: z.array(z.string()),
  from_tags: z.array(z.string()),
  from_expr: z.string().optional(),
  aux: z.object({}),
  total_count: z.int(),
  total_value: z.number(),
  total_quantiles: Quantiles.optional(),
  aggregates: z.array(z.object({ function: z.string(), value: z.number().optional() })).optional(),
  series: z.array(UsageSlice),
}).meta({ id: 'MetricItem' })
export type MetricItem = z.output<typeof MetricItem>

const lastOf = (value: unknown): unknown => (Array.isArray(value) ? value.at(-1) : value)
const wordOf = <const W extends readonly [string, ...string[]]>(words: W, otherwise: NoInfer<W>[number]) => {
  const word: z.ZodType = z.enum(words)
  return z.preprocess((value) => lastOf(value) || undefined, word.default(otherwise)) as z.ZodType<W[number], string | undefined>
}

const deltaParameters = {
  delta: booleanParameter.describe('Compares with an earlier period; by default the one just before.'),
  delta_time_range: textParameter(255).describe(
    'The period to compare with, such as `Previous month`; takes precedence over the timestamps.',
  ),
  delta_from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
  delta_to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
}

const FULL_MINUTES = 'Usage is counted by minute of arrival; the range is rounded to full minutes. The default range is `Last 1 day`.'

export const usage = {
  organization: endpoint({
    method: 'GET',
    path: '/usage',
    permission: 'usage_read',
    tier: 'C',
    summary: 'Get the usage of the organization over time',
    description: FULL_MINUTES,
    query: z.object({
      ...rangeParameters,
      usage_type: wordOf(USAGE_TYPES, 'ingestion'),
      num_of_slices: integerParameter(1, SLICES_MAX),
      ...deltaParameters,
    }),
    reply: MetricItem,
    fails: [503],
  }),
  logs: endpoint({
    method: 'GET',
    path: '/usage/organizations/logs',
    permission: 'usage_read',
    tier: 'C',
    summary: 'Get the usage by dataset, largest first',
    description: FULL_MINUTES,
    query: z.object({
      ...rangeParameters,
      usage_type: wordOf(USAGE_TYPES, 'ingestion'),
      from: listParameter(uuid).describe('Dataset ids; every dataset the caller may see when absent.'),
      limit: integerParameter(1, 500).default(50).describe('Datasets at most.'),
      num_of_slices: integerParameter(1, SLICES_MAX),
      ...deltaParameters,
    }),
    reply: UsageSeries,
    fails: [503],
  }),
  users: endpoint({
    method: 'GET',
    path: '/usage/users',
    permission: 'usage_read',
    tier: 'S',
    summary: 'Get the search usage of the caller by dataset; administrators and API keys get that of all users',
    description: FULL_MINUTES,
    query: z.object({
      ...rangeParameters,
      usage_type: wordOf(['search'], 'search'),
      limit: integerParameter(1, 100).default(50).describe('Datasets at most.'),
      num_of_slices: integerParameter(1, USER_SLICES_MAX),
      metric: wordOf(['volume', 'latency', 'data'], 'volume').describe('`data` is a deprecated name of `volume`.'),
      ...deltaParameters,
    }),
    reply: UsageSeries,
    fails: [503],
  }),
}
