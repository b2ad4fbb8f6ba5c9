import type { TimeBounds } from '../../../reading/query.ts'
import { countMatching } from '../../../reading/reading.ts'
import { builtInMetadata } from './label-names.ts'
import { SCANNED_EVENTS_MAX, tooManyScanned } from './log-entries.ts'
import type { LogqlGrouping, LogqlRange, LogqlStage } from './logql/tree.ts'
import { eventQueryOf, type LokiCaller, type PlannedLogs, planLogs } from './loki-query.ts'
import { scanSamples } from './scanned-samples.ts'
import { type EvaluationTimes, type LokiSeries, timeAt } from './series.ts'
import { readWindowSeries, windowPlanOf } from './window-series.ts'

/** The labels that the rest of a query needs. A sum needs no others than `sufficient`; `named` are fields that it names besides the labels of streams. */
export type NeededLabels = { readonly sufficient: LogqlGrouping | undefined; readonly named: readonly string[] }

/**
 * Computes a range aggregation at each time. A window has the length of the range and ends at the time, in whole milliseconds: it includes its
 * start and excludes its end.
 */
export async function aggregateRange(
  caller: LokiCaller,
  range: LogqlRange,
  times: EvaluationTimes,
  { sufficient, named }: NeededLabels,
): Promise<readonly LokiSeries[]> {
  const planned = await planLogs(caller, range.logs)
  if (planned.datasets.length === 0) return []
  const grouping = withoutUnwrapped(range.grouping ?? (mayCombine(range) ? sufficient : undefined), range.logs.stages)
  const rest = withoutUnused(planned.rest, grouping)
  const bounds = boundsOf(range, times)
  const plan = windowPlanOf(range, times, { ...planned, rest }, { grouping, named })
  if (plan) return readWindowSeries(caller, { range, times, planned, grouping, named, plan, bounds })
  await checkScan(caller, planned, bounds)
  return scanSamples(caller, { range, times, planned: { ...planned, rest }, grouping, named, bounds })
}

const boundsOf = ({ rangeMs, offsetMs }: LogqlRange, times: EvaluationTimes): TimeBounds => ({
  fromMs: Math.max(0, times.startMs - offsetMs - rangeMs),
  toMs: Math.max(0, timeAt(times, times.count - 1) - offsetMs),
})

const additive: ReadonlySet<string> = new Set(['count_over_time', 'rate', 'bytes_over_time', 'bytes_rate', 'sum_over_time'])

/** Sums of series can be computed from fewer, larger series. */
const mayCombine = ({ name }: LogqlRange): boolean => additive.has(name)

/** The label of `unwrap` differs in every event. It is no label of the series unless the grouping names it. */
function withoutUnwrapped(grouping: LogqlGrouping | undefined, stages: readonly LogqlStage[]): LogqlGrouping | undefined {
  const unwrap = stages.find((stage) => stage.kind === 'unwrap')
  if (!unwrap || grouping?.isWithout === false) return grouping
  return { isWithout: true, names: [...(grouping?.names ?? []), unwrap.name] }
}

const parsers: ReadonlySet<LogqlStage['kind']> = new Set<LogqlStage['kind']>(['json', 'logfmt', 'regexp', 'pattern'])

/** Parsers whose labels and errors nobody needs are left out, so that the store can count alone. Clients draw the volume of logs like this. */
function withoutUnused(rest: readonly LogqlStage[], grouping: LogqlGrouping | undefined): readonly LogqlStage[] {
  if (!grouping || grouping.isWithout || !grouping.names.every((name) => builtInMetadata.has(name))) return rest
  const last = rest.at(-1)
  const dropsErrors = last?.kind === 'drop' && last.labels.every(({ name, matcher }) => name.startsWith('__error') && !matcher)
  const isUnused =
    dropsErrors && last.labels.some(({ name }) => name === '__error__') && rest.slice(0, -1).every(({ kind }) => parsers.has(kind))
  return isUnused ? [] : rest
}

async function checkScan(caller: LokiCaller, planned: PlannedLogs, bounds: TimeBounds): Promise<void> {
  if (bounds.toMs - bounds.fromMs < 1) return
  const { count, cost } = await countMatching(caller.world.events, await eventQueryOf(caller, planned, bounds))
  caller.cost.bytes += cost.bytes
  if (count > SCANNED_EVENTS_MAX) throw tooManyScanned(`${count} are in the range`)
}
