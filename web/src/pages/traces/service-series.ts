import type { MetricTimeseries } from '@dendro/api'
import { quoted } from '@dendro/language/language-error'
import type { ChartData, ChartMark } from '../../parts/chart/data.ts'
import { ABSENT } from '../../parts/chart/group-name.ts'
import type { Grid } from '../../parts/time/time-range.ts'

export const SPANS_SELECTOR = "collection = '.traces'"
export const DURATION_MEASURE = 'exact_percentile($span.duration_nano, 95)'
const IS_FAILED = "$span.status_code = 'STATUS_CODE_ERROR'"

export type SpanSelection = { readonly service: string; readonly operation?: string | undefined }

export const operationWhere = (operation: string): string => `$span.name = ${quoted(operation)}`

/** The filter on the spans of a service, or of one of its operations. */
export const spansWhere = ({ service, operation }: SpanSelection): string =>
  [`$service.name = ${quoted(service)}`, ...(operation === undefined ? [] : [operationWhere(operation)])].join(' AND ')

export const failedWhere = (selection: SpanSelection): string => `${spansWhere(selection)} AND ${IS_FAILED}`

/** Those of the spans that stand for others too, where an ingest rule stores a share of the traces. */
export const sampledWhere = (where: string): string => `${where} AND $sampling.weight IS NOT NULL`
export const WEIGHTS_MEASURE = 'sum($sampling.weight)'

export type ServiceCharts = {
  readonly spans: ChartData
  readonly failed: ChartData
  readonly durations: ChartData
  readonly versions: readonly ChartMark[]
  /** Whether numbers of spans are estimates. */
  readonly isSampled: boolean
  /** Whether there are too many spans to sort their durations. */
  readonly isEstimated: boolean
}

type Slices = Readonly<Record<'durations' | 'failed' | 'weights' | 'failedWeights', MetricTimeseries | undefined>>

export const slicesOf = (found: Readonly<Record<string, MetricTimeseries | undefined>>): Slices => ({
  durations: found.durations,
  failed: found.failed,
  weights: found.weights,
  failedWeights: found.failedWeights,
})

/** What is drawn: each series with its values of the time before. */
export function chartsOf(
  { fromMs, stepMs, slices }: Grid,
  now: Slices,
  before: Slices,
  versions: MetricTimeseries | undefined,
): ServiceCharts {
  const times = Array.from({ length: slices }, (_, at) => fromMs + at * stepMs)
  const chart = (series: ChartData['series']): ChartData => ({ times, stepMs, series })
  /** Each stored span counts for those that it stands for. */
  const counts = (of: MetricTimeseries | undefined, weights: MetricTimeseries | undefined) =>
    times.map((_, at) => Math.round(Number(of?.series[at]?.count ?? 0) + unstoredIn(weights, at)))
  const nanos = (of: MetricTimeseries | undefined, name: 'p50' | 'p95' | 'p99') =>
    times.map((_, at) => (Number(of?.series[at]?.count ?? 0) === 0 ? null : (of?.series[at]?.quantiles?.[name] ?? null)))
  return {
    spans: chart([{ name: 'spans', values: counts(now.durations, now.weights), before: counts(before.durations, before.weights) }]),
    failed: chart([{ name: 'error', values: counts(now.failed, now.failedWeights), before: counts(before.failed, before.failedWeights) }]),
    durations: chart(
      (['p50', 'p95', 'p99'] as const).map((name) => ({
        name,
        values: nanos(now.durations, name),
        // One line of the time before is enough to compare with.
        ...(name === 'p95' ? { before: nanos(before.durations, name) } : {}),
      })),
    ),
    versions: versionMarks(times, versions),
    isSampled: [now.weights, before.weights].some((of) => times.some((_, at) => unstoredIn(of, at) > 0)),
    isEstimated: [now.durations, before.durations].some((of) => of?.is_exact === false),
  }
}

/** How many spans the sampled ones of a step stand for besides themselves. */
function unstoredIn(weights: MetricTimeseries | undefined, at: number): number {
  const { count = 0, value = 0 } = weights?.series[at] ?? {}
  return Number(count) === 0 ? 0 : Math.max(0, value - Number(count))
}

/** Where versions of the service begin; the one that runs from the start is none. */
export function versionMarks(times: readonly number[], versions: MetricTimeseries | undefined): ChartMark[] {
  return (versions?.groups_series ?? [])
    .flatMap(({ name, timeseries }) => {
      const first = timeseries.findIndex(({ count }) => Number(count) > 0)
      const atMs = times[first]
      return name === '' || name === ABSENT || first <= 0 || atMs === undefined ? [] : [{ atMs, name: `version ${name}` }]
    })
    .sort((one, other) => one.atMs - other.atMs)
}
