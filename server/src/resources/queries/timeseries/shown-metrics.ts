import type { Delta, MetricFormula, MetricQuery, MetricTimeseries, Series, TimeSlice } from '@dendro/api'
import { deferredList } from '../../../kernel/json-pieces.ts'
import { mapInSteps } from '../../../kernel/steps.ts'
import { sliceLengthMs, sliceStartMs } from '../../../query/slices.ts'
import type { TimeBounds } from '../../../reading/query.ts'
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
export async function shownMeasure(measure: Measure, showing: Showing): Promise<MetricTimeseries> {
  const { name, stat, queries, formula, earlier } = showing
  return {
    name,
    queries: [...queries],
    ...(formula ? { formulas: [formula] } : {}),
    aggregates: [{ function: stat, value: measure.whole.whole.value }],
    is_exact: measure.isExact,
    series: slicesOf(measure.whole, showing),
    groups_series: await seriesTree(measure, showing),
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

/** Nests groups, one key per level, from the innermost ones upwards. */
async function seriesTree(measure: Measure, showing: Showing): Promise<Series[]> {
  let inside: ReadonlyMap<string, Series[]> | undefined
  for (const [depth, lines] of [...measure.levels.entries()].reverse()) {
    const earlier = showing.earlier && new Map(showing.earlier.measure.levels[depth]?.map((line) => [nameOf(line.values), line]))
    const below = inside
    const above = new Map<string, Series[]>()
    await mapInSteps(lines, (line) => {
      const series = {
        ...seriesOf(line, measure.groups[depth] ?? '', depth, showing),
        ...(below ? { groups_series: below.get(nameOf(line.values)) ?? [] } : {}),
        ...(earlier ? { delta: deltaOf(line, earlier.get(nameOf(line.values)) ?? nothing(line, showing.earlier?.measure), showing) } : {}),
      }
      const parent = nameOf(line.values.slice(0, depth))
      const siblings = above.get(parent)
      if (siblings) siblings.push(series)
      else above.set(parent, [series])
    })
    inside = above
  }
  return inside?.get(nameOf([])) ?? []
}

const nameOf = (values: MetricLine['values']): string => JSON.stringify(values)

/** About the length of the JSON of a slice. */
const SLICE_CHARS = 70

function seriesOf(line: MetricLine, key: string, depth: number, showing: Showing): Series {
  return {
    key,
    name: line.values[depth] ?? NULL_NAME,
    count: line.whole.count,
    stat: showing.stat,
    value: line.whole.value ?? 0,
    ...(line.whole.value === null ? { no_value: true as const } : {}),
    quantiles: quantilesOf(line.whole),
    series_resolution_ms: sliceLengthMs(showing.bounds, showing.slices),
    timeseries: deferredList(line.slices.length, SLICE_CHARS, () => slicesOf(line, showing)),
  }
}

const nothing = ({ values }: MetricLine, measure: Measure | undefined): MetricLine => ({
  values,
  whole: { count: 0, value: measure?.absent ?? null },
  slices: [],
})

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
