import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'
import { boundsOf, gridOf, type Range } from '../../parts/time/time-range.ts'
import {
  chartsOf,
  DURATION_MEASURE,
  failedWhere,
  type ServiceCharts,
  SPANS_SELECTOR,
  type SpanSelection,
  sampledWhere,
  slicesOf,
  spansWhere,
  WEIGHTS_MEASURE,
} from './service-series.ts'

const SLICES = 60
const VERSIONS_MAX = 20

/** Loads the rate, failures and durations of a service over time, beside those of the same length of time before. */
export function useServiceCharts(selection: SpanSelection, range: Range) {
  const client = useClient()
  return useQuery({
    queryKey: ['service charts', selection, range],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ServiceCharts> => {
      const grid = gridOf(boundsOf(range, Date.now()), SLICES)
      const lengthMs = grid.toMs - grid.fromMs
      const query = (name: string, select: string, where: string, groups?: string[]) => ({
        name,
        select: [select],
        from_expr: SPANS_SELECTOR,
        where,
        ...(groups ? { groups } : {}),
      })
      const load = (fromMs: number, more: ReturnType<typeof query>[]) =>
        client.timeseries.search({
          body: {
            queries: [
              query('durations', DURATION_MEASURE, spansWhere(selection)),
              query('failed', 'count(*)', failedWhere(selection)),
              query('weights', WEIGHTS_MEASURE, sampledWhere(spansWhere(selection))),
              query('failedWeights', WEIGHTS_MEASURE, sampledWhere(failedWhere(selection))),
              ...more,
            ],
            time_range: { from_ts: fromMs, to_ts: fromMs + lengthMs },
            num_of_slices: grid.slices,
            limit: VERSIONS_MAX,
          },
          signal,
        })
      const [now, before] = await Promise.all([
        load(grid.fromMs, [query('versions', 'count(*)', spansWhere(selection), ['$service.version'])]),
        load(grid.fromMs - lengthMs, []),
      ])
      return chartsOf(grid, slicesOf(now), slicesOf(before), now.versions)
    },
  })
}
