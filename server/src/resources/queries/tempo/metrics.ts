import type { AggregateCall, Filter } from '@dendro/language/tree'
import { jsonReply, type ReadCall } from '../../../http/protocol-reads.ts'
import type { LongRawReply } from '../../../http/raw-handler.ts'
import { badField } from '../../../kernel/errors.ts'
import { firstValues } from '../../../query/first-values.ts'
import type { QueryCost, StatsResult, StatsRow, TimeBounds } from '../../../reading/query.ts'
import { countWithin, readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and, buildEventQuery, isSampled, recordSearch } from '../../data/event-queries/event-queries.ts'
import { lasts, nameOfGroup, spanDatasets, spanFilter, WEIGHTS } from '../traces/traces.ts'
import { type ComparedSpans, compareSpans } from './compared-spans.ts'
import { metricRange, stepOf } from './parameters.ts'
import { type GroupField, parseMetric, type SpanFunction, type SpanMetric } from './traceql-metrics.ts'

/** Those of the largest groups are shown; an answer with fewer than there are says so. */
const SERIES_MAX = 1_000
const POINTS_MAX = 2_000
const MS_PER_S = 1_000
const NS_PER_S = 1e9
const PARTIAL = `there are more than ${SERIES_MAX} series, of which these are shown`

type Label = { readonly key: string; readonly value: { readonly stringValue: string } | { readonly doubleValue: number } }
/** A series has a value for each step, undefined where there is nothing to measure. */
type Series = { readonly labels: readonly Label[]; readonly values: readonly (number | undefined)[] }

/** Measures spans over time: one series for each group, whose samples have the times at which their steps begin. */
export async function rangeMetrics(world: World, call: ReadCall): Promise<LongRawReply> {
  const range = metricRange(call.parameters, world.clock.nowMs())
  const metric = metricOf(call)
  // A comparison is of the whole range, which clients give as its step.
  const steps = metric.measured.kind === 'compare' ? { bounds: range, slices: 1 } : stepsOf(call.parameters, range)
  const stepMs = lengthOf(steps)
  const { series, isWhole } = await measure(world, call, metric, steps)
  return reply(
    series.map(({ labels, values }) => ({
      labels,
      samples: values.flatMap((value, at) =>
        value === undefined ? [] : [{ timestampMs: String(steps.bounds.fromMs + at * stepMs), value }],
      ),
    })),
    isWhole,
  )
}

/** Steps that begin at multiples of their length, around a range. */
function stepsOf(parameters: URLSearchParams, range: TimeBounds): Steps {
  const stepMs = stepOf(parameters, range)
  const fromMs = Math.floor(range.fromMs / stepMs) * stepMs
  const slices = Math.max(1, (Math.ceil(range.toMs / stepMs) * stepMs - fromMs) / stepMs)
  if (slices > POINTS_MAX) throw badField('step', `must be longer: at most ${POINTS_MAX} steps fit into an answer`, 'OUT_OF_RANGE')
  return { bounds: { fromMs, toMs: fromMs + slices * stepMs }, slices }
}

/** Measures the spans of the whole range: one value for each group. */
export async function instantMetrics(world: World, call: ReadCall): Promise<LongRawReply> {
  const bounds = metricRange(call.parameters, world.clock.nowMs())
  const { series, isWhole } = await measure(world, call, metricOf(call), { bounds, slices: 1 })
  return reply(
    series.flatMap(({ labels, values: [value] }) => (value === undefined ? [] : [{ labels, value }])),
    isWhole,
  )
}

const metricOf = ({ parameters }: ReadCall): SpanMetric => parseMetric(parameters.get('q') ?? '')

const reply = (series: readonly object[], isWhole: boolean): LongRawReply =>
  jsonReply({ series, metrics: {}, ...(isWhole ? {} : { status: 'PARTIAL', message: PARTIAL }) })

type Steps = { readonly bounds: TimeBounds; readonly slices: number }
const lengthOf = ({ bounds, slices }: Steps): number => (bounds.toMs - bounds.fromMs) / slices

type Measuring = {
  readonly metric: SpanMetric
  readonly filter: Filter
  readonly slices: number
  readonly stepMs: number
  read(filter: Filter, calls: readonly AggregateCall[]): Promise<StatsResult>
  /** Counts the spans of several filters at once. */
  count(of: readonly Filter[]): Promise<readonly number[]>
}

type Found = { readonly series: readonly Series[]; readonly isWhole: boolean }

async function measure(world: World, { actor, signal }: ReadCall, metric: SpanMetric, steps: Steps): Promise<Found> {
  const { bounds, slices } = steps
  const startedMs = world.clock.monotonicMs()
  const datasets = await spanDatasets(world, actor)
  if (datasets.length === 0 || bounds.toMs <= bounds.fromMs) return { series: [], isWhole: true }
  const filter = spanFilter({ also: metric.filter }).whole
  const groups = metric.by.map(({ key }) => key)
  let bytes = 0
  const noteCost = ({ bytes: read }: QueryCost): void => {
    bytes += read
  }
  const queryOf = (among: Filter) => buildEventQuery(world, actor, { datasets, filter: among, bounds, signal })
  const measuring = {
    ...{ metric, filter, slices, stepMs: lengthOf(steps) },
    read: async (among: Filter, calls: readonly AggregateCall[]) => {
      const found = await readStats(world.events, await queryOf(among), { calls, groups, slices, limit: SERIES_MAX })
      noteCost(found.cost)
      return found
    },
    count: async (of: readonly Filter[]) => {
      const { counts, cost } = await countWithin(world.events, await queryOf(filter), of)
      noteCost(cost)
      return counts
    },
  }
  const { measured } = metric
  const measureAll = async (): Promise<Found> => {
    if (measured.kind === 'compare') return comparison(await compareSpans(world, await queryOf(filter), measured, noteCost))
    if (measured.kind === 'histogram') return histogram(measuring)
    return isOfValues(measured) ? values(measuring, measured) : counts(measuring, filter, [])
  }
  const found = await measureAll()
  recordSearch(world, actor, { datasets, bytes, startedMs })
  const series = metric.rank ? firstValues(found.series, metric.rank.count, metric.rank.order) : found.series
  return { series: series.slice(0, SERIES_MAX), isWhole: found.isWhole && series.length <= SERIES_MAX }
}

async function values({ metric, filter, read }: Measuring, measured: OfValues): Promise<Found> {
  const found = await read(filter, callsOf(measured))
  const series = groupRows(found).flatMap((group) => seriesOfValues(metric, measured, group))
  return { series, isWhole: isWhole(found) }
}

const isWhole = ({ groups, groupsTotal }: StatsResult): boolean => groupsTotal <= groups.length

/** Counts spans. Where rules have sampled traces, each stored span stands for several. */
async function counts({ metric, read, stepMs }: Measuring, filter: Filter, more: readonly Label[]): Promise<Found> {
  const [found, sampled] = await Promise.all([read(filter, [{ name: 'count' }]), read(and(filter, isSampled), [WEIGHTS])])
  const unstored = new Map(groupRows(sampled).map(({ of, rows }) => [nameOfGroup(of), rows.map(unstoredOf)]))
  const perStep = metric.measured.kind === 'rate' ? stepMs / MS_PER_S : 1
  const series = groupRows(found).map(({ of, rows }) => ({
    labels: labelsOf(metric, of, more),
    values: rows.map(({ count }, at) => (count + (unstored.get(nameOfGroup(of))?.[at] ?? 0)) / perStep),
  }))
  return { series, isWhole: isWhole(found) }
}

/** What sampled spans stand for besides themselves. */
const unstoredOf = ({ count, stats }: StatsRow): number => Math.max(0, Math.round(Number(stats[0]?.value ?? 0)) - count)

/** The longest durations of buckets in nanoseconds. */
const BUCKETS = Array.from({ length: 64 }, (_, power) => 2 ** power)
const bucketFilters = BUCKETS.map((longest) => lasts(longest === 1 ? 0 : longest / 2 + 1, longest + 1))

/** Counts spans by duration: a series for each power of two that has any, named by the longest duration of its spans in seconds. */
async function histogram(measuring: Measuring): Promise<Found> {
  const { filter, count } = measuring
  const all = await count(bucketFilters)
  const found: Found[] = []
  for (const [at, bucket] of bucketFilters.entries()) {
    if ((all[at] ?? 0) === 0) continue
    const label = { key: '__bucket', value: { doubleValue: (BUCKETS[at] ?? 0) / NS_PER_S } }
    found.push(await counts(measuring, and(filter, bucket), [label]))
  }
  return { series: found.flatMap(({ series }) => series), isWhole: found.every((one) => one.isWhole) }
}

/** A series for each value on either side, and one for all values of an attribute. */
function comparison({ values: all, isWhole: isAll }: ComparedSpans): Found {
  const series = all.map(({ side, key, label, value, count }) => ({
    labels: [
      { key: '__meta_type', value: { stringValue: value === null ? `${side}_total` : side } },
      { key: label, value: { stringValue: labelText({ key }, value) } },
    ],
    values: [count],
  }))
  return { series, isWhole: isAll }
}

type OfValues = Extract<SpanFunction, { key: string }>
const isOfValues = (measured: SpanFunction): measured is OfValues => 'key' in measured

function callsOf(measured: OfValues): readonly AggregateCall[] {
  const { key } = measured
  if (measured.kind !== 'quantiles') return [{ name: measured.kind, key }]
  return measured.of.map((share): AggregateCall => {
    if (share === 0 || share === 1) return { name: share === 0 ? 'min' : 'max', key }
    return { name: 'percentile', key, percent: share * 100, isExact: true }
  })
}

type GroupRows = { readonly of: readonly (string | null)[]; readonly rows: readonly StatsRow[] }

/** The rows of each group by step; all spans are one group without fields. */
function groupRows({ whole, slices, groups }: StatsResult): readonly GroupRows[] {
  const rowsOf = (all: StatsRow, ofSlices: readonly StatsRow[]) => (ofSlices.length > 1 ? ofSlices : [all])
  if (groups.length > 0) return groups.map((group) => ({ of: group.values, rows: rowsOf(group.whole, group.slices) }))
  return whole.count === 0 ? [] : [{ of: [], rows: rowsOf(whole, slices) }]
}

/** A series, or one for each quantile. */
function seriesOfValues(metric: SpanMetric, measured: OfValues, { of, rows }: GroupRows): readonly Series[] {
  const shares = measured.kind === 'quantiles' ? measured.of : [undefined]
  return shares.map((share, call) => ({
    labels: labelsOf(metric, of, share === undefined ? [] : [{ key: 'p', value: { doubleValue: share } }]),
    values: rows.map(({ stats }) => {
      const value = stats[call]?.value
      return typeof value === 'number' ? value / measured.unit : undefined
    }),
  }))
}

/** The labels of a series; without any, its name. */
function labelsOf({ name, by }: SpanMetric, of: GroupRows['of'], more: readonly Label[]): readonly Label[] {
  const labels = [...by.map((field, at) => ({ key: field.label, value: { stringValue: labelText(field, of[at] ?? null) } })), ...more]
  return labels.length > 0 ? labels : [{ key: '__name__', value: { stringValue: name } }]
}

/** Statuses and kinds as the query language names them; `nil` for spans without the field. */
function labelText({ key }: Pick<GroupField, 'key'>, value: string | null): string {
  if (value === null) return 'nil'
  if (key === '$span.status_code') return value.replace('STATUS_CODE_', '').toLowerCase()
  return key === '$span.kind' ? value.replace('SPAN_KIND_', '').toLowerCase() : value
}
