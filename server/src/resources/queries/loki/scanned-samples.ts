import { numberOf } from '@dendro/language/number'
import { badRequest } from '../../../kernel/errors.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { labelKeyOf, recordOf } from './answers.ts'
import type { LabelSet } from './event-labels.ts'
import type { LogqlGrouping, LogqlRange, UnwrapUnit } from './logql/tree.ts'
import { bytesOf, durationNsOf } from './logql/units.ts'
import { eventQueryOf, type LokiCaller, type PlannedLogs, readLabeled } from './loki-query.ts'
import { compilePipeline } from './pipeline.ts'
import { ERROR_DETAILS_LABEL, ERROR_LABEL, PipelineLabels } from './pipeline-labels.ts'
import { reduceWindow } from './reduce-window.ts'
import { type EvaluationTimes, type LokiSeries, timeAt, tooManyValues, VALUES_MAX } from './series.ts'

export type ScanRequest = {
  readonly range: LogqlRange
  readonly times: EvaluationTimes
  readonly planned: PlannedLogs
  readonly grouping: LogqlGrouping | undefined
  readonly named: readonly string[]
  readonly bounds: TimeBounds
}

type Samples = { readonly labels: LabelSet; readonly timesMs: number[]; readonly values: number[] }

const AT_ONCE = 5_000
const NS_PER_MS = 1_000_000n
const NS_PER_S = 1e9
/** Bounds the work for windows that overlap. */
const REDUCED_MAX = 50_000_000

/** Computes a range aggregation from the events themselves, for stages and functions that the store does not have. */
export async function scanSamples(caller: LokiCaller, request: ScanRequest): Promise<readonly LokiSeries[]> {
  const { range, times } = request
  const all = await collectSamples(caller, request)
  if (all.length * times.count > VALUES_MAX) throw tooManyValues()
  const sampleCount = all.reduce((sum, { values }) => sum + values.length, 0)
  if (sampleCount * Math.max(1, range.rangeMs / times.stepMs) > REDUCED_MAX) throw tooManyValues()
  return all.map(({ labels, timesMs, values }) => ({
    labels,
    values: Array.from({ length: times.count }, (_, index) => {
      const endMs = timeAt(times, index) - range.offsetMs
      const from = firstAtOrAfter(timesMs, endMs - range.rangeMs)
      const to = firstAtOrAfter(timesMs, endMs)
      return from === to ? undefined : reduceWindow(range, values.slice(from, to))
    }),
  }))
}

async function collectSamples(caller: LokiCaller, { range, planned, grouping, named, bounds }: ScanRequest): Promise<Samples[]> {
  const all = new Map<string, Samples>()
  if (bounds.toMs <= bounds.fromMs) return []
  const unwrap = planned.rest.find((stage) => stage.kind === 'unwrap')
  const pipeline = compilePipeline(planned.rest)
  const query = await eventQueryOf(caller, planned, bounds)
  for await (const batch of readLabeled(caller, planned, query, { newestFirst: false, atOnce: () => AT_ONCE })) {
    for (const { event, line, labels: given } of batch) {
      const labels = new PipelineLabels(given)
      const written = pipeline(line, labels)
      if (written === undefined) continue
      refuseError(labels)
      const value = unwrap
        ? quantityOf(labels.find(unwrap.name), unwrap.unit)
        : range.name.startsWith('bytes')
          ? Buffer.byteLength(written)
          : 1
      if (value === undefined) continue
      const own = seriesLabels(labels, grouping, named)
      const key = labelKeyOf(own)
      const samples = all.get(key) ?? { labels: own, timesMs: [], values: [] }
      all.set(key, samples)
      samples.timesMs.push(Number(event.timeNs / NS_PER_MS))
      samples.values.push(value)
    }
  }
  return [...all.values()]
}

/** A line that a parser could not read has no value, so the query fails unless it drops such lines. */
function refuseError(labels: PipelineLabels): void {
  const error = labels.get(ERROR_LABEL)
  if (error === '') return
  const stream = JSON.stringify(recordOf(labels.stream))
  throw badRequest(
    `pipeline error: '${error}' (${labels.get(ERROR_DETAILS_LABEL)}) in the stream ${stream}; ` +
      `leave such lines out with | ${ERROR_LABEL}="" after the parser`,
  )
}

/** Values that are no quantity of the unit have no sample. Durations count in seconds. */
function quantityOf(text: string | undefined, unit: UnwrapUnit): number | undefined {
  if (text === undefined) return undefined
  if (unit === 'number') return numberOf(text)
  if (unit === 'bytes') return bytesOf(text) ?? numberOf(text)
  const ns = durationNsOf(text)
  return ns === undefined ? undefined : ns / NS_PER_S
}

/** The labels of the series of a sample. Structured metadata is left out unless the query names it: it often differs in every event. */
function seriesLabels(labels: PipelineLabels, grouping: LogqlGrouping | undefined, named: readonly string[]): LabelSet {
  if (grouping && !grouping.isWithout) return new Map(grouping.names.map((name) => [name, labels.get(name)]))
  const further = named.map((name): [string, string] => [name, labels.get(name)])
  const own = [...further, ...labels.stream, ...labels.parsed].filter(
    ([name]) => !grouping?.names.includes(name) && !name.startsWith('__error'),
  )
  return new Map(own)
}

function firstAtOrAfter(sorted: readonly number[], timeMs: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < timeMs) low = middle + 1
    else high = middle
  }
  return low
}
