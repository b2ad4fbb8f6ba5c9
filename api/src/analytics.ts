import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { rangeParameters, SLICES_MAX } from './search.ts'
import { MetricItem } from './usage.ts'
import { integerParameter } from './values.ts'

export const analytics = {
  errors: endpoint({
    method: 'GET',
    path: '/analytics/errors',
    permission: 'search_read',
    tier: 'X',
    summary: 'Count errors and warnings over time, by dataset and status',
    description:
      'Counts the levels that were detected on arrival; it reads no lines and does not count as search usage. `time_range` takes precedence over `from_ts` and `to_ts`.',
    query: z.object({
      ...rangeParameters,
      limit: integerParameter(1, 100).default(50).describe('Maximum number of datasets, those with the most first.'),
      num_of_slices: integerParameter(1, SLICES_MAX),
    }),
    reply: MetricItem,
    fails: [503],
  }),
}
