import type { AggregateCall } from '@dendro/language/tree'
import type { StatsRow, TimeBounds } from '../../../reading/query.ts'
import { readWindows } from '../../../reading/reading.ts'
import { labelKeyOf } from './answers.ts'
import type { LabelKeys } from './label-names.ts'
import type { LogqlGrouping, LogqlRange } from './logql/tree.ts'
import { eventQueryOf, type LokiCaller, type PlannedLogs } from './loki-query.ts'
import { type EvaluationTimes, type LokiSeries, tooManyValues, VALUES_MAX } from './series.ts'

/** How the store computes a range aggregation: the function, and the step of its windows. */
export type WindowPlan = { readonly call: AggregateCall; readonly stepMs: number; readonly perSecond: boolean }

const SLICES_MAX = 50_000
const SLICES_PER_WINDOW_MAX = 1_000
const MS_PER_S = 1_000

/** Returns how the store can compute a range aggregation, or undefined when it cannot. */
export function windowPlanOf(
  range: LogqlRange,
  times: EvaluationTimes,
  { rest, keys }: Pick<PlannedLogs, 'rest' | 'keys'>,
  labels: SeriesLabels,
): WindowPlan | undefined {
  const unwrap = rest.find(({ kind }) => kind === 'unwrap')
  if (rest.length > (unwrap ? 1 : 0)) return undefined
  const key =
    unwrap?.kind === 'unwrap' && unwrap.unit === 'number' && keys.isUnambiguous(unwrap.name) ? keys.pipelineKeys(unwrap.name)[0] : undefined
  if (unwrap && key === undefined) return undefined
  const call = callOf(range, key)
  const stepMs = times.count === 1 ? range.rangeMs : greatestDivisor(range.rangeMs, times.stepMs)
  const slices = (range.rangeMs + (times.count - 1) * times.stepMs) / stepMs
  const startsBefore = times.startMs - range.offsetMs - range.rangeMs < 0
  const grouped = groupedLabels(keys, labels)
  if (!grouped.every(({ name }) => keys.isStored(name))) return undefined
  // Means of groups cannot be joined.
  if (call?.name === 'avg' && grouped.some((label) => label.keys.length > 1)) return undefined
  if (!call || startsBefore || slices > SLICES_MAX || range.rangeMs / stepMs > SLICES_PER_WINDOW_MAX) return undefined
  return { call, stepMs, perSecond: range.name === 'rate' || range.name === 'bytes_rate' }
}

function callOf({ name }: LogqlRange, key: string | undefined): AggregateCall | undefined {
  switch (name) {
    case 'count_over_time':
      return { name: 'count' }
    case 'rate':
      return key === undefined ? { name: 'count' } : { name: 'sum', key }
    case 'bytes_over_time':
    case 'bytes_rate':
      return { name: 'bytes', key: '@raw' }
    case 'sum_over_time':
      return key === undefined ? undefined : { name: 'sum', key }
    case 'avg_over_time':
      return key === undefined ? undefined : { name: 'avg', key }
    case 'min_over_time':
      return key === undefined ? undefined : { name: 'min', key }
    case 'max_over_time':
      return key === undefined ? undefined : { name: 'max', key }
    default:
      return undefined
  }
}

function greatestDivisor(one: number, other: number): number {
  let [larger, smaller] = [one, other]
  while (smaller > 0) [larger, smaller] = [smaller, larger % smaller]
  return larger
}

/** Which labels the series have. */
export type SeriesLabels = { readonly grouping: LogqlGrouping | undefined; readonly named: readonly string[] }

export type WindowRequest = SeriesLabels & {
  readonly range: LogqlRange
  readonly times: EvaluationTimes
  readonly planned: PlannedLogs
  readonly plan: WindowPlan
  readonly bounds: TimeBounds
}

/** Lets the store compute all windows by the keys of the labels. */
export async function readWindowSeries(caller: LokiCaller, request: WindowRequest): Promise<readonly LokiSeries[]> {
  const { range, times, planned, plan, bounds } = request
  const { call, stepMs } = plan
  const labels = groupedLabels(planned.keys, request)
  const groups = labels.flatMap(({ keys }) => keys)
  const query = await eventQueryOf(caller, planned, bounds)
  const { groups: found } = await readWindows(caller.world.events, query, { calls: [call], groups, stepMs, windowMs: range.rangeMs })
  const perStep = times.count === 1 ? 1 : times.stepMs / stepMs
  const all = new Map<string, { labels: Map<string, string>; values: (number | undefined)[] }>()
  for (const { window, values, measured } of found) {
    const value = valueOfRow(measured)
    if (window % perStep !== 0 || value === undefined) continue
    const named = labelsOf(labels, values)
    const key = labelKeyOf(named)
    const series = all.get(key) ?? { labels: named, values: Array<number | undefined>(times.count).fill(undefined) }
    if (!all.has(key) && (all.size + 1) * times.count > VALUES_MAX) throw tooManyValues()
    all.set(key, series)
    const time = window / perStep
    const before = series.values[time]
    const own = plan.perSecond ? value / (range.rangeMs / MS_PER_S) : value
    series.values[time] = before === undefined ? own : joined(call, before, own)
    caller.cost.lines += measured.count
  }
  return [...all.values()]
}

/** Joins two groups of the store whose labels are the same, because different keys hold them. */
function joined({ name }: AggregateCall, one: number, other: number): number {
  if (name === 'min') return Math.min(one, other)
  return name === 'max' ? Math.max(one, other) : one + other
}

const valueOfRow = ({ stats }: StatsRow): number | undefined => {
  const value = stats[0]?.value
  return typeof value === 'number' ? value : undefined
}

type GroupedLabel = { readonly name: string; readonly keys: readonly string[] }

/** The labels of the series and the keys that hold them. Without a grouping they are those of the stream. */
function groupedLabels(keys: LabelKeys, { grouping, named }: SeriesLabels): readonly GroupedLabel[] {
  if (grouping && !grouping.isWithout) return [...new Set(grouping.names)].map((name) => ({ name, keys: keys.pipelineKeys(name) }))
  const stream = keys.streamNames.map((name) => ({ name, keys: keys.streamKeys(name) }))
  const further = named.filter((name) => !keys.streamNames.includes(name)).map((name) => ({ name, keys: keys.pipelineKeys(name) }))
  return [...stream, ...further].filter(({ name }) => !grouping?.names.includes(name))
}

/** Of the keys of a label, the first that the events have holds its value. */
function labelsOf(labels: readonly GroupedLabel[], values: readonly (string | null)[]): Map<string, string> {
  const own = new Map<string, string>()
  let at = 0
  for (const { name, keys } of labels) {
    const value = values.slice(at, at + keys.length).find((one) => one !== null)
    if (value) own.set(name, value)
    at += keys.length
  }
  return own
}
