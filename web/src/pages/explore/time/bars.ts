import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { boundsOf, type Grid, gridOf } from '../../../parts/time/time-range.ts'
import type { DendroClient } from '../../../session/session.ts'
import { type ExploreQuery, filterOf, queryKeyOf, sourceOf } from '../query/explore-query.ts'

const BARS_MAX = 120

export type Bar = { fromMs: number; info: number; warn: number; error: number }
/** Bars have round steps that may exceed the range, which ends at endMs and is lengthMs long. */
export type Bars = { bars: Bar[]; stepMs: number; total: number; isExact: boolean; endMs: number; lengthMs: number }

export const barSum = ({ info, warn, error }: Bar): number => info + warn + error
/** Adds up bars; the sum begins where the first does. */
export function sumOfBars(bars: readonly Bar[]): Bar {
  const total = (status: 'info' | 'warn' | 'error') => bars.reduce((sum, bar) => sum + bar[status], 0)
  return { fromMs: bars[0]?.fromMs ?? 0, info: total('info'), warn: total('warn'), error: total('error') }
}

/** Adds up the bars of a selection; undefined where the selection cuts a bar, whose part is not known. */
export function selectedSum({ bars, stepMs }: Bars, { fromMs, toMs }: { fromMs: number; toMs: number }): Bar | undefined {
  const inside = bars.filter((bar) => bar.fromMs >= fromMs && bar.fromMs + stepMs <= toMs)
  const [first, last] = [inside[0], inside.at(-1)]
  return first?.fromMs === fromMs && last && last.fromMs + stepMs === toMs ? sumOfBars(inside) : undefined
}

export const endOf = ({ bars, stepMs }: Bars): number => (bars.at(-1)?.fromMs ?? 0) + stepMs

/** The bar of a moment; undefined outside of all bars. */
export function barIndexAt({ bars, stepMs }: Pick<Bars, 'bars' | 'stepMs'>, atMs: number): number | undefined {
  const index = Math.floor((atMs - (bars[0]?.fromMs ?? 0)) / stepMs)
  return index >= 0 && index < bars.length ? index : undefined
}

/** The time axis of Explore: the histogram and the charts of its tabs stand over the same time. */
export const EXPLORE_TIME = 'explore'

/** The time after which the bars of a live tail are counted again. */
const LIVE_MS = 5_000

/** Counts the matching events by status in round steps. */
export function useBars(query: ExploreQuery, isOn: boolean, isLive: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['bars', ...queryKeyOf(query)],
    enabled: isOn,
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? LIVE_MS : false,
    queryFn: ({ signal }) => {
      const bounds = boundsOf(query.range, Date.now())
      return countBars(client, query, gridOf(bounds, BARS_MAX), signal, bounds)
    },
  })
}

/** Counts matching events in every step of a grid. */
export async function countBars(
  client: DendroClient,
  query: ExploreQuery,
  grid: Grid,
  signal: AbortSignal,
  { fromMs, toMs }: { fromMs: number; toMs: number } = grid,
): Promise<Bars> {
  const body = {
    ...sourceOf(query),
    ...filterOf(query),
    from_ts: Math.max(0, grid.fromMs),
    to_ts: Math.max(1, grid.toMs),
    select: ['count(*)'],
    groups: ['@status'],
    num_of_slices: grid.slices,
  }
  const response = await client.search.run({ body, signal, repeatable: true })
  const bars: Bar[] = Array.from({ length: grid.slices }, (_, at) => ({
    fromMs: grid.fromMs + at * grid.stepMs,
    info: 0,
    warn: 0,
    error: 0,
  }))
  for (const { name, timeseries } of response.groups_series) {
    if (name !== 'info' && name !== 'warn' && name !== 'error') continue
    for (const [at, slice] of timeseries.entries()) {
      const bar = bars[at]
      if (bar) bar[name] = Number(slice.count)
    }
  }
  return {
    bars,
    stepMs: grid.stepMs,
    total: Number(response.totals.count),
    isExact: response.is_exact,
    endMs: toMs,
    lengthMs: toMs - fromMs,
  }
}
