import type { AggregateCall } from '@dendro/language/tree'
import { badField, badRequest } from '../../../kernel/errors.ts'
import type { StatsGroup, TimeBounds } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import { labelKeyOf, recordOf, sampleText } from './answers.ts'
import { evaluate } from './evaluate.ts'
import type { LabelSet } from './event-labels.ts'
import { matchersOf } from './label-lists.ts'
import { VOLUMES_MAX } from './limits.ts'
import { boundsOf } from './log-entries.ts'
import type { LabelMatcher, LogqlMetric } from './logql/tree.ts'
import { eventQueryOf, planLogs } from './loki-query.ts'
import { type LokiRequest, recordRead } from './request.ts'
import { type EvaluationTimes, timeAt } from './series.ts'

const RANGE_MS = 6 * 3_600_000
const HOUR_MS = 3_600_000
const STREAMS_MAX = 5_000
const NS_PER_MS = 1_000_000n
const MS_PER_S = 1_000
const at = { position: 0, length: 0 }
const noLogs = { kind: 'logs' as const, stages: [], at }

/** Lists the label sets of the streams that have events in a range. */
export async function listSeries(request: LokiRequest): Promise<unknown> {
  const { parameters, world } = request
  const range = parameters.range(world.clock.nowMs(), RANGE_MS)
  const selectors = parameters.all('match[]', 'match').map(matchersOf)
  const found = new Map<string, LabelSet>()
  for (const matchers of selectors.length === 0 ? [[]] : selectors) {
    for (const { labels } of await readStreams(request, matchers, range, [])) found.set(labelKeyOf(labels), labels)
  }
  recordRead(request)
  return { status: 'success', data: [...found.values()].map(recordOf) }
}

/** Counts the streams, events and bytes of a selector. Dendro has no chunks. */
export async function indexStatistics(request: LokiRequest): Promise<unknown> {
  const { parameters, world } = request
  const range = parameters.range(world.clock.nowMs(), HOUR_MS)
  const streams = await readStreams(request, matchersOf(parameters.required('query')), range, [{ name: 'bytes', key: '@raw' }])
  recordRead(request)
  const total = (of: (stream: StreamStatistics) => number) => streams.reduce((sum, stream) => sum + of(stream), 0)
  return { streams: streams.length, chunks: 0, bytes: total(({ values }) => values[0] ?? 0), entries: total(({ count }) => count) }
}

type StreamStatistics = { readonly labels: LabelSet; readonly count: number; readonly values: readonly number[] }

async function readStreams(
  request: LokiRequest,
  matchers: readonly LabelMatcher[],
  range: { startNs: bigint; endNs: bigint },
  calls: readonly AggregateCall[],
): Promise<StreamStatistics[]> {
  const planned = await planLogs(request, { ...noLogs, matchers })
  if (planned.datasets.length === 0) return []
  const names = planned.keys.streamNames.map((name) => ({ name, keys: planned.keys.streamKeys(name) }))
  const query = await eventQueryOf(request, planned, boundsOf(range))
  const groups = names.flatMap(({ keys }) => keys)
  const found = await readStats(request.world.events, query, {
    calls: [...calls, { name: 'count' }],
    groups,
    slices: 1,
    limit: STREAMS_MAX,
  })
  request.cost.bytes += found.cost.bytes
  if (found.groupsTotal > found.groups.length) {
    throw badRequest(
      `the selector has ${found.groupsTotal} streams; at most ${STREAMS_MAX} are listed, so narrow the range or the selector`,
    )
  }
  return joinEqual(found.groups.map((group) => streamOf(group, names)))
}

function streamOf({ values, whole }: StatsGroup, names: readonly { name: string; keys: readonly string[] }[]): StreamStatistics {
  const labels = new Map<string, string>()
  let from = 0
  for (const { name, keys } of names) {
    const value = values.slice(from, from + keys.length).find((one) => one !== null)
    if (value) labels.set(name, value)
    from += keys.length
  }
  return { labels, count: whole.count, values: whole.stats.map(({ value }) => (typeof value === 'number' ? value : 0)) }
}

/** Groups with the same labels are one stream: different keys may hold them. */
const joinEqual = (streams: readonly StreamStatistics[]): StreamStatistics[] =>
  [...Map.groupBy(streams, ({ labels }) => labelKeyOf(labels)).values()].map((members) => ({
    labels: members[0]?.labels ?? new Map(),
    count: members.reduce((sum, { count }) => sum + count, 0),
    values: (members[0]?.values ?? []).map((_, index) => members.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  }))

const VOLUMES = 100

/** Returns the bytes of a selector by labels, the largest first. */
export async function indexVolume(request: LokiRequest): Promise<unknown> {
  const { startNs, endNs } = request.parameters.range(request.world.clock.nowMs(), HOUR_MS)
  const [startMs, endMs] = [Number(startNs / NS_PER_MS), Number(endNs / NS_PER_MS)]
  if (endMs <= startMs) throw badField('end', 'must be after start')
  const times = { startMs: endMs, stepMs: endMs - startMs, count: 1 }
  const series = await volumesOf(request, times)
  recordRead(request)
  const result = series
    .flatMap(({ labels, values: [value] }) => (value === undefined ? [] : [{ labels, value }]))
    .sort((one, other) => other.value - one.value)
    .map(({ labels, value }) => ({ metric: recordOf(labels), value: [endMs / MS_PER_S, sampleText(value)] }))
  return { status: 'success', data: { resultType: 'vector', result, stats: {} } }
}

/** Returns the bytes of a selector for each bucket of a range. Buckets begin at multiples of the step, are cut to the range, and have the times of their ends. */
export async function indexVolumeRange(request: LokiRequest, times: EvaluationTimes): Promise<unknown> {
  const { startNs, endNs } = request.parameters.range(request.world.clock.nowMs(), HOUR_MS)
  const range = { fromMs: Number(startNs / NS_PER_MS), toMs: Number(endNs / NS_PER_MS) }
  if (range.toMs <= range.fromMs) throw badField('end', 'must be after start')
  const volumes = new Map<string, { labels: LabelSet; values: [number, string][] }>()
  for (const buckets of bucketsOf(range, times.stepMs)) {
    for (const { labels, values } of await volumesOf(request, buckets)) {
      const key = labelKeyOf(labels)
      const volume = volumes.get(key) ?? { labels, values: [] }
      volumes.set(key, volume)
      for (const [index, value] of values.entries())
        if (value !== undefined) volume.values.push([timeAt(buckets, index) / MS_PER_S, sampleText(value)])
    }
  }
  recordRead(request)
  const result = [...volumes.values()].map(({ labels, values }) => ({ metric: recordOf(labels), values }))
  return { status: 'success', data: { resultType: 'matrix', result, stats: {} } }
}

/** The first bucket, the whole ones, and what is left: each window of `stepMs` ends at its time. */
function bucketsOf({ fromMs, toMs }: TimeBounds, stepMs: number): EvaluationTimes[] {
  const firstMs = Math.min(toMs, (Math.floor(fromMs / stepMs) + 1) * stepMs)
  const count = Math.floor((toMs - firstMs) / stepMs)
  const lastMs = toMs - firstMs - count * stepMs
  return [
    { startMs: firstMs, stepMs: firstMs - fromMs, count: 1 },
    ...(count > 0 ? [{ startMs: firstMs + stepMs, stepMs, count }] : []),
    ...(lastMs > 0 ? [{ startMs: toMs, stepMs: lastMs, count: 1 }] : []),
  ]
}

/** By default the labels are those that the selector names. */
async function volumesOf(request: LokiRequest, times: EvaluationTimes) {
  const { parameters } = request
  const matchers = matchersOf(parameters.required('query'))
  const limit = parameters.whole('limit', { least: 1, most: VOLUMES_MAX, otherwise: VOLUMES })
  const aggregateBy = parameters.text('aggregateBy') ?? 'series'
  if (aggregateBy !== 'series') throw badField('aggregateBy', 'must be series; volumes of names of labels are not supported')
  const targets =
    parameters
      .text('targetLabels')
      ?.split(',')
      .map((name) => name.trim()) ?? matchers.map(({ name }) => name)
  const bytes: LogqlMetric = {
    kind: 'range',
    name: 'bytes_over_time',
    parameter: undefined,
    logs: { ...noLogs, matchers },
    rangeMs: times.stepMs,
    offsetMs: 0,
    grouping: undefined,
    at,
  }
  const sum: LogqlMetric = {
    kind: 'aggregation',
    name: 'sum',
    parameter: undefined,
    grouping: { isWithout: false, names: targets },
    of: bytes,
    at,
  }
  const largest: LogqlMetric = { kind: 'aggregation', name: 'topk', parameter: limit, grouping: undefined, of: sum, at }
  const found = await evaluate(request, largest, times)
  return found.kind === 'series' ? found.series : []
}
