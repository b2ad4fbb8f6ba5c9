import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { MetricTimeseries, queriesAndFormulas } from './metric-shapes.ts'
import { EVENTS_MAX, rangeParameters, SLICES_MAX } from './search.ts'
import { booleanParameter, integerParameter, ms, text, textParameter } from './values.ts'

const Absolute = { from_ts: ms.optional(), to_ts: ms.optional() }
const Range = z.object({ natural: text(0, 255).optional().describe('Such as `Last 1 hour`.'), ...Absolute })

const SearchRequest = z.object({
  ...queriesAndFormulas,
  time_range: Range.describe('Either `natural`, or `from_ts` and `to_ts`.'),
  limit: z.int().min(1).max(EVENTS_MAX).optional().describe('Groups; 100 when absent.'),
  num_of_slices: z.int().min(1).max(SLICES_MAX).optional().describe('100 when absent.'),
  delta: z
    .object({ enabled: z.boolean(), natural: text(0, 255).optional(), ...Absolute })
    .optional()
    .describe('Compares with an earlier period: `natural`, or `from_ts` and `to_ts`, or by default the one just before.'),
})
export type TimeseriesRequest = z.output<typeof SearchRequest>

const GROUPS_MAX = 1_000
const Answer = z.record(z.string(), MetricTimeseries)
const FAILS = [404, 503] as const

export const timeseries = {
  get: endpoint({
    method: 'GET',
    path: '/timeseries/{metricDefinitionId}',
    permission: 'search_read',
    tier: 'C',
    summary: 'Get the time series of a metric definition, by query and formula name',
    query: z.object({
      ...rangeParameters,
      limit: integerParameter(1, GROUPS_MAX),
      num_of_slices: integerParameter(1, SLICES_MAX),
      where: textParameter(32_768).describe('An additional filter on the events of every query.'),
      delta: booleanParameter,
      delta_time_range: textParameter(255),
      delta_from_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
      delta_to_ts: integerParameter(0, Number.MAX_SAFE_INTEGER),
    }),
    reply: Answer,
    fails: FAILS,
  }),
  search: endpoint({
    method: 'POST',
    path: '/timeseries/search',
    permission: 'search_read',
    tier: 'C',
    summary: 'Compute time series without a stored definition',
    body: SearchRequest,
    reply: Answer,
    fails: FAILS,
  }),
}
