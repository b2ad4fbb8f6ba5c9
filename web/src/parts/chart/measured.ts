import type { MetricTimeseries, Series, TimeSlice } from '@dendro/api'
import type { ChartData, ChartSeries } from './data.ts'

/** A Measured is what one query or formula gave. */
type Measured = Pick<MetricTimeseries, 'name' | 'queries' | 'formulas' | 'series' | 'groups_series'>

/** SERIES_MAX are as many groups as are asked for and drawn, the largest. */
export const SERIES_MAX = 50

/** chartData puts what was measured side by side: a series for every group, or one for the whole where there are none. */
export function chartData(measured: readonly Measured[]): ChartData {
  const times = (measured[0]?.series ?? []).map((slice) => Number(slice['@timestamp']))
  const series = measured.flatMap((one): ChartSeries[] => {
    const isSum = addsUp(one)
    const groups = leavesOf(one.groups_series)
    const lead = measured.length > 1 ? `${one.name} ` : ''
    if (groups.length === 0) return [{ name: one.name, values: valuesOf(one.series, isSum) }]
    return groups.map(({ path, series: leaf }) => ({ name: lead + path.join(' · '), values: valuesOf(leaf.timeseries, isSum) }))
  })
  const stepMs = (times[1] ?? 0) - (times[0] ?? 0) || 60_000
  return { times, stepMs, series: series.slice(0, SERIES_MAX), isCut: series.length >= SERIES_MAX }
}

/** withBefore gives every series what it was one period earlier, by its name; a series that was not there had nothing. */
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

/** leavesOf are the groups of the lowest level, each with the values that lead to it. */
export const leavesOf = (groups: readonly Series[], above: readonly string[] = []): Leaf[] =>
  groups.flatMap((one) => {
    const path = [...above, one.name === '' ? 'without' : one.name]
    // What lies within a series is one again, which its type does not say.
    const within = (one.groups_series ?? []) as unknown as readonly Series[]
    return within.length > 0 ? leavesOf(within, path) : [{ path, series: one }]
  })

/** addsUp tells whether a slice without events has the value 0, as for a count, or none, as for an average. */
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
  slices.map(({ count, value }) => (isSum || Number(count) > 0 ? value : null))
