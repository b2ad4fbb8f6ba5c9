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
    summary: 'How many errors and warnings there are, over time, by dataset and status',
    description:
      'Counts what was found out of each event when it arrived, without looking at any line; it is no usage. `time_range` goes before `from_ts` and `to_ts`.',
    query: z.object({
      ...rangeParameters,
      limit: integerParameter(1, 100).default(50).describe('Datasets at most, those with the most first.'),
      num_of_slices: integerParameter(1, SLICES_MAX),
    }),
    reply: MetricItem,
    fails: [503],
  }),
}
