import type { PatternRow, SearchResponse } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { boundsOf, gridOf, timeRangeOf } from '../../../parts/time/time-range.ts'
import type { DendroClient } from '../../../session/session.ts'
import { costOf, type ExploreQuery, filterOf, queryKeyOf, type ResultCost, sourceOf } from '../query/explore-query.ts'

/** A Pattern is the common text of several events. */
export type Pattern = {
  id: string
  template: string
  datasets: string[]
  count: number
  /** The approximate size of the lines: the template length times the count. */
  bytes: number
  trend: PatternTrend | undefined
  /** The count in the compared period. */
  before?: number
}
export type PatternTrend = { slices: number[]; info: number; warn: number; error: number; firstMs: number; lastMs: number }

export function usePatterns(query: ExploreQuery, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['patterns', ...queryKeyOf(query)],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Patterns> => {
      const startedMs = performance.now()
      const rows = await countPatterns(client, query, signal)
      const patterns = mergePatterns(rows)
      const events = patterns.reduce((sum, one) => sum + one.count, 0)
      const cost = { events, isExact: rows.length < PATTERNS_MAX, bytes: undefined, ms: Math.round(performance.now() - startedMs) }
      return { patterns, cost }
    },
  })
}

/** The counted patterns; the service does not report the bytes read. */
export type Patterns = { patterns: Pattern[]; cost: ResultCost }

/** The limit of the service. */
export const PATTERNS_MAX = 1_000

export const patternsBody = (query: ExploreQuery) => ({
  search_details: { ...sourceOf(query), ...filterOf(query), ...timeRangeOf(query.range) },
})

/** Counts the matching events by pattern and dataset. */
export const countPatterns = async (client: DendroClient, query: ExploreQuery, signal: AbortSignal): Promise<PatternRow[]> =>
  (await client.patterns.find({ body: patternsBody(query), signal, repeatable: true })).patterns

const SLICES = 30
const TRENDS_MAX = 300

/** Loads the time series, statuses and first and last times of the most frequent patterns. The list does not wait for them. */
export function usePatternTrends(query: ExploreQuery, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['pattern trends', ...queryKeyOf(query)],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const grid = gridOf(boundsOf(query.range, Date.now()), SLICES)
      const body = {
        ...sourceOf(query),
        ...filterOf(query),
        from_ts: Math.max(0, grid.fromMs),
        to_ts: grid.toMs,
        select: ['count(*)', 'min(@time)', 'max(@time)'],
        groups: ['@pattern', '@status'],
        num_of_slices: grid.slices,
        limit: TRENDS_MAX,
      }
      const response = await client.search.run({ body, signal, repeatable: true })
      return { trends: trendsOf(response), cost: costOf(response) }
    },
  })
}

/** Merges the counts of all datasets. */
export function mergePatterns(rows: readonly PatternRow[]): Pattern[] {
  const byId = new Map<string, Pattern>()
  for (const { id, template, log_id, count } of rows) {
    const one = byId.get(id) ?? { id, template, datasets: [], count: 0, bytes: 0, trend: undefined }
    byId.set(id, one)
    one.datasets.push(log_id)
    one.count += Number(count ?? 0)
    one.bytes = one.count * new TextEncoder().encode(template).length
  }
  return [...byId.values()]
}

function trendsOf({ groups_series }: SearchResponse): Map<string, PatternTrend> {
  return new Map(
    groups_series.map((one) => {
      const inner = one.groups_series ?? []
      const counted = (status: string) => Number(inner.find(({ name }) => name === status)?.count ?? 0)
      const measured = (name: string) => one.aggregates?.find((each) => each.function.startsWith(name))?.value ?? 0
      return [
        one.name,
        {
          slices: one.timeseries.map((slice) => Number(slice.count)),
          info: counted('info'),
          warn: counted('warn'),
          error: counted('error'),
          firstMs: measured('min'),
          lastMs: measured('max'),
        },
      ]
    }),
  )
}

/** Adds the patterns that occur only in the compared period, with a count of 0. */
export function withGone(now: readonly Pattern[], earlier: ReadonlyMap<string, Pattern> | undefined): Pattern[] {
  const currentIds = new Set(now.map(({ id }) => id))
  const gone = [...(earlier?.values() ?? [])].filter(({ id }) => !currentIds.has(id))
  return [
    ...now.map((one) => ({ ...one, before: earlier?.get(one.id)?.count ?? 0 })),
    ...gone.map((one) => ({ ...one, before: one.count, count: 0, bytes: 0 })),
  ]
}

export const patternOrders = {
  frequent: 'Most frequent',
  rare: 'Rarest',
  new: 'Newest',
  bytes: 'Most bytes',
  changed: 'Most changed',
} as const
export type PatternOrder = keyof typeof patternOrders

/** Sorts patterns; those without the value sort last. */
export function sortPatterns(patterns: readonly Pattern[], order: PatternOrder): Pattern[] {
  const by: Record<PatternOrder, (one: Pattern) => number> = {
    frequent: ({ count }) => -count,
    rare: ({ count }) => (count === 0 ? Number.POSITIVE_INFINITY : count),
    new: ({ trend }) => -(trend?.firstMs ?? 0),
    bytes: ({ bytes }) => -bytes,
    changed: ({ count, before = 0 }) => -Math.abs(count - before),
  }
  return patterns.toSorted((one, other) => (by[order](one) === by[order](other) ? 0 : by[order](one) - by[order](other)))
}
