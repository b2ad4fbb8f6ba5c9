import type { MetricTimeseries, Series, TimeSlice } from '@dendro/api'
import type { ChartData, ChartSeries } from './data.ts'
import { groupName } from './group-name.ts'

/** A Measured is the result of one query or formula. */
type Measured = Pick<MetricTimeseries, 'name' | 'queries' | 'formulas' | 'series' | 'groups_series'>

/** How many groups are requested and drawn, largest first. */
export const SERIES_MAX = 50

/** chartData has a series per group, or one for the total without groups. */
export function chartData(measured: readonly Measured[]): ChartData {
  const times = (measured[0]?.series ?? []).map((slice) => Number(slice['@timestamp']))
  const series = measured.flatMap((one): ChartSeries[] => {
    const isSum = addsUp(one)
    const groups = leavesOf(one.groups_series)
    const name = measuredName(one)
    const lead = measured.length > 1 ? `${name} ` : ''
    if (groups.length === 0) return [{ name, values: valuesOf(one.series, isSum) }]
    return groups.map(({ path, series: leaf }) => ({ name: lead + groupName(path), values: valuesOf(leaf.timeseries, isSum) }))
  })
  const stepMs = (times[1] ?? 0) - (times[0] ?? 0) || 60_000
  return { times, stepMs, series: series.slice(0, SERIES_MAX), isCut: series.length >= SERIES_MAX }
}

/** Adds the previous period to the series of the same name. */
export function withBefore(data: ChartData, earlier: ChartData | undefined): ChartData {
  if (!earlier) return data
  const byName = new Map(earlier.series.map(({ name, values }) => [name, values]))
  return {
    ...data,
    series: data.series.map((one) => {
      const before = byName.get(one.name)
      return { ...one, before: before?.length === one.values.length ? before : one.values.map(() => null) }
    }),
  }
}

export type Leaf = { path: string[]; series: Series }

/** The innermost groups, each with the path of its values. */
export const leavesOf = (groups: readonly Series[], above: readonly string[] = []): Leaf[] =>
  groups.flatMap((one) => {
    const path = [...above, one.name]
    // Nested groups are series too, which the API type does not declare.
    const within = (one.groups_series ?? []) as unknown as readonly Series[]
    return within.length > 0 ? leavesOf(within, path) : [{ path, series: one }]
  })

/** The names that queries have until someone names them. */
const UNNAMED = /^[a-g]$/

/** Names a query by its measure until someone has named it. */
export const measuredName = ({ name, queries, formulas }: Pick<Measured, 'name' | 'queries' | 'formulas'>): string =>
  (formulas ?? []).length === 0 && UNNAMED.test(name) ? (queries[0]?.select[0] ?? name) : name

/** True where a slice without events is 0, as for a count, and not empty, as for an average. */
function addsUp({ queries, formulas }: Measured): boolean {
  if ((formulas ?? []).length > 0) return true
  const [query] = queries
  const item = query?.select[0] ?? ''
  return (
    /^(count|sum|rate|uniq|count_distinct)\b/i.test(item) ||
    (!item.includes('(') && ['sum', 'count'].includes(query?.aggregation?.[0]?.time ?? 'sum'))
  )
}

const valuesOf = (slices: readonly TimeSlice[], isSum: boolean): (number | null)[] =>
  slices.map(({ count, value, no_value }) => (isSum || (Number(count) > 0 && !no_value) ? value : null))
