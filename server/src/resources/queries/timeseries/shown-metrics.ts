import type { Delta, MetricFormula, MetricQuery, MetricTimeseries, Series, TimeSlice } from '@dendro/api'
import { sliceLengthMs, sliceStartMs } from '../../../query/slices.ts'
import type { TimeBounds } from '../../../reading/event-query.ts'
import type { Measure, MetricLine, Point } from './measured.ts'

/** How measures are presented: name, function, range, number of slices, and the comparison. */
export type Showing = {
  readonly name: string
  readonly stat: string
  readonly queries: readonly MetricQuery[]
  readonly formula?: MetricFormula
  readonly bounds: TimeBounds
  readonly slices: number
  readonly earlier: { readonly bounds: TimeBounds; readonly measure: Measure } | undefined
}

const NULL_NAME = 'null'

/** One measure of the response. */
export function shownMeasure(measure: Measure, showing: Showing): MetricTimeseries {
  const { name, stat, queries, formula, earlier } = showing
  return {
    name,
    queries: [...queries],
    ...(formula ? { formulas: [formula] } : {}),
    aggregates: [{ function: stat, value: measure.whole.whole.value }],
    is_exact: measure.isExact,
    series: slicesOf(measure.whole, showing),
    groups_series: nest(measure, showing, [], 0),
    ...(earlier ? { delta: deltaOf(measure.whole, earlier.measure.whole, showing) } : {}),
    ...(measure.warnings?.length ? { warnings: measure.warnings.map((warning) => ({ ...warning })) } : {}),
  }
}

const slicesOf = ({ slices }: MetricLine, showing: Showing): TimeSlice[] =>
  slices.map((point, index) => ({
    '@timestamp': String(sliceStartMs(showing.bounds, showing.slices, index)),
    count: point.count,
    value: point.value ?? 0,
    ...(point.value === null ? { no_value: true as const } : {}),
    quantiles: quantilesOf(point),
  }))

const quantilesOf = ({ quantiles }: Point): TimeSlice['quantiles'] => (quantiles ? { ...quantiles } : {})

function nest(measure: Measure, showing: Showing, above: MetricLine['values'], depth: number): Series[] {
  const lines = (measure.levels[depth] ?? []).filter(({ values }) => above.every((value, at) => value === values[at]))
  return lines.map((line) => {
    const earlier = showing.earlier && (lineAt(showing.earlier.measure, line.values, depth) ?? nothing(line))
    return {
      key: measure.groups[depth] ?? '',
      name: line.values[depth] ?? NULL_NAME,
      count: line.whole.count,
      stat: showing.stat,
      value: line.whole.value ?? 0,
      ...(line.whole.value === null ? { no_value: true as const } : {}),
      quantiles: quantilesOf(line.whole),
      series_resolution_ms: sliceLengthMs(showing.bounds, showing.slices),
      timeseries: slicesOf(line, showing),
      ...(depth + 1 < measure.levels.length ? { groups_series: nest(measure, showing, line.values, depth + 1) } : {}),
      ...(earlier ? { delta: deltaOf(line, earlier, showing) } : {}),
    }
  })
}

const lineAt = ({ levels }: Measure, values: MetricLine['values'], depth: number): MetricLine | undefined =>
  levels[depth]?.find((line) => line.values.every((value, at) => value === values[at]))

const nothing = ({ values }: MetricLine): MetricLine => ({ values, whole: { count: 0, value: null }, slices: [] })

/** Compares with the earlier period; a missing earlier value counts as 0. */
function deltaOf(now: MetricLine, earlier: MetricLine, { stat, earlier: period }: Showing): Delta {
  const [current, previous] = [now.whole.value ?? 0, earlier.whole.value ?? 0]
  const delta_value = current - previous
  const delta_factor = previous === 0 ? 0 : delta_value / previous
  return {
    start_time: period?.bounds.fromMs ?? 0,
    end_time: period?.bounds.toMs ?? 0,
    total_count: earlier.whole.count,
    total_value: previous,
    delta_value,
    delta_factor,
    aggregates: [{ function: stat, value: earlier.whole.value }],
    changes: [{ function: stat, value: delta_value, factor: delta_factor }],
  }
}
