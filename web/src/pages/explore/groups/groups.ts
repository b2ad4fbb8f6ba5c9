import type { SearchResponse } from '@dendro/api'
import { printKey } from '@dendro/language/print'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { boundsOf, type Grid, gridOf } from '../../../parts/time/time-range.ts'
import type { DendroClient } from '../../../session/session.ts'
import { costOf, type ExploreQuery, filterOf, queryKeyOf, type ResultCost, sourceOf } from '../query/explore-query.ts'
import { byValue } from './group-value.ts'

/** A Group is the events with equal values of some fields, with their count, their aggregate and its time series; null marks a step without events. */
export type Group = { values: readonly string[]; count: number; value: number | null; slices: readonly (number | null)[] }
export type Groups = {
  groups: Group[]
  /** The aggregate over all events. For functions such as `avg` it is not the sum of the groups. */
  overall: Group
  fromMs: number
  stepMs: number
  slices: number
  lengthMs: number
  total: number
  hiddenCount: number
  /** others are the same groups by the measures after the first. */
  others: readonly { measure: string; groups: readonly Group[] }[]
  /** True when the aggregate is approximate; event counts are always exact. */
  isEstimated: boolean
  cost: ResultCost
}

const SLICES = 120
const TREND_SLICES = 30
const GROUPS_MAX = 1_000

/** Aggregates the matching events by fields, or all of them without fields; the first of several measures sorts the groups. */
export function useGroups(query: ExploreQuery, by: readonly string[], measures: readonly string[], tab: 'table' | 'chart' | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['groups', ...queryKeyOf(query), by, measures, tab],
    enabled: tab !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Groups> => {
      const bounds = boundsOf(query.range, Date.now())
      const lengthMs = bounds.toMs - bounds.fromMs
      // A table covers exactly the range; a chart has round steps that stay aligned.
      const grid = tab === 'chart' ? gridOf(bounds, SLICES) : { ...bounds, slices: TREND_SLICES, stepMs: lengthMs / TREND_SLICES }
      const [first, ...others] = await Promise.all(
        measures.map(async (measure) => ({ measure, ...(await measureGroups(client, query, { by, measure, grid, lengthMs }, signal)) })),
      )
      if (!first) throw new Error('groups need a measure')
      return {
        ...first,
        others: others.map(({ measure, groups }) => ({ measure, groups })),
        isEstimated: [first, ...others].some(({ isEstimated }) => isEstimated),
      }
    },
  })
}

/** The search request for groups. */
export const groupsBody = (query: ExploreQuery, by: readonly string[], measure: string, grid: Grid) => ({
  ...sourceOf(query),
  ...filterOf(query),
  from_ts: Math.max(0, grid.fromMs),
  to_ts: Math.max(1, grid.toMs),
  select: [measure],
  ...(by.length > 0 ? { groups: by.map(quotedField) } : {}),
  num_of_slices: grid.slices,
  limit: GROUPS_MAX,
})

type GroupOptions = { by: readonly string[]; measure: string; grid: Grid; lengthMs: number }

/** Loads the groups over one grid. */
export async function measureGroups(
  client: DendroClient,
  query: ExploreQuery,
  options: GroupOptions,
  signal: AbortSignal,
): Promise<Groups> {
  const { by, measure, grid, lengthMs } = options
  const response = await client.search.run({ body: groupsBody(query, by, measure, grid), signal, repeatable: true })
  const overall = overallOf(response, measure)
  const groups = by.length === 0 ? [overall] : response.groups_series.flatMap((one) => flattenSeries(one, [], by.length, measure))
  return {
    groups: groups.toSorted(byValue),
    overall,
    fromMs: grid.fromMs,
    stepMs: grid.stepMs,
    slices: grid.slices,
    lengthMs,
    total: Number(response.totals.count),
    hiddenCount: Math.max(0, Number(response.totals.total_groups ?? 0) - Number(response.totals.retrieved_groups ?? 0)),
    others: [],
    isEstimated: !response.is_exact,
    cost: { ...costOf(response), isExact: true },
  }
}

/** The aggregate over all events as one group. */
function overallOf({ totals, metadata }: SearchResponse, measure: string): Group {
  const isCount = measure === 'count(*)'
  const own = totals[metadata.select[0] ?? measure]
  const value = isCount ? Number(totals.count) : own === null || own === undefined ? null : Number(own)
  return {
    values: [],
    count: Number(totals.count),
    value,
    slices: (totals.timeseries ?? []).map((slice) => sliceValueOf(slice, isCount)),
  }
}

const sliceValueOf = (slice: Series['timeseries'][number], isCount: boolean): number | null =>
  isCount ? Number(slice.count) : Number(slice.count) === 0 || slice.no_value ? null : slice.value

/** Quotes a field name where needed. */
export const quotedField = printKey

type Series = SearchResponse['groups_series'][number]

function flattenSeries(series: Series, parentValues: readonly string[], depth: number, measure: string): Group[] {
  const values = depth === 0 ? [] : [...parentValues, series.name]
  // The schema declares one level; the response nests one level per field.
  const inner = (series.groups_series ?? []) as Series[]
  if (values.length < depth && inner.length > 0) return inner.flatMap((one) => flattenSeries(one, values, depth, measure))
  const isCount = measure === 'count(*)'
  return [
    {
      values,
      count: Number(series.count),
      value: isCount ? Number(series.count) : series.no_value ? null : series.value,
      slices: series.timeseries.map((slice) => sliceValueOf(slice, isCount)),
    },
  ]
}
