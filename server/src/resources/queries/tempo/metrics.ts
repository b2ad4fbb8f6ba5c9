import type { AggregateCall } from '@dendro/language/tree'
import { jsonReply, type ReadCall } from '../../../http/protocol-reads.ts'
import type { LongRawReply } from '../../../http/raw-handler.ts'
import { badField } from '../../../kernel/errors.ts'
import type { StatsResult, StatsRow, TimeBounds } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and, buildEventQuery, isSampled, recordSearch } from '../../data/event-queries/event-queries.ts'
import { nameOfGroup, spanDatasets, spanFilter, WEIGHTS } from '../traces/traces.ts'
import { metricRange, stepOf } from './parameters.ts'
import { type GroupField, type Measured, parseMetric, type SpanMetric } from './traceql-metrics.ts'

/** The largest groups are shown; an answer with fewer than there are says so. */
const SERIES_MAX = 1_000
const POINTS_MAX = 2_000
const MS_PER_S = 1_000
const PARTIAL = `there are more than ${SERIES_MAX} series; these are the largest ones`

type Label = { readonly key: string; readonly value: { readonly stringValue: string } | { readonly doubleValue: number } }
/** A series has a value for each step, null where there is nothing to measure. */
type Series = { readonly labels: readonly Label[]; readonly values: readonly (number | null)[] }

/** Measures spans over time: one series for each group, whose samples have the times at which their steps begin. */
export async function rangeMetrics(world: World, call: ReadCall): Promise<LongRawReply> {
  const range = metricRange(call.parameters, world.clock.nowMs())
  const stepMs = stepOf(call.parameters, range)
  const bounds = { fromMs: Math.floor(range.fromMs / stepMs) * stepMs, toMs: Math.ceil(range.toMs / stepMs) * stepMs }
  const slices = Math.max(1, (bounds.toMs - bounds.fromMs) / stepMs)
  if (slices > POINTS_MAX) throw badField('step', `must be longer: at most ${POINTS_MAX} steps fit into an answer`, 'OUT_OF_RANGE')
  const { series, isWhole } = await measure(world, call, { bounds: { ...bounds, toMs: bounds.fromMs + slices * stepMs }, slices })
  return reply(
    series.map(({ labels, values }) => ({
      ...named(labels),
      samples: values.flatMap((value, at) => (value === null ? [] : [{ timestampMs: String(bounds.fromMs + at * stepMs), value }])),
    })),
    isWhole,
  )
}

/** Measures the spans of the whole range: one value for each group. */
export async function instantMetrics(world: World, call: ReadCall): Promise<LongRawReply> {
  const bounds = metricRange(call.parameters, world.clock.nowMs())
  const { series, isWhole } = await measure(world, call, { bounds, slices: 1 })
  return reply(
    series.flatMap(({ labels, values: [value] }) => (value === null || value === undefined ? [] : [{ ...named(labels), value }])),
    isWhole,
  )
}

const reply = (series: readonly object[], isWhole: boolean): LongRawReply =>
  jsonReply({ series, metrics: {}, ...(isWhole ? {} : { status: 'PARTIAL', message: PARTIAL }) })

function named(labels: readonly Label[]) {
  const texts = labels.map(
    ({ key, value }) => `${key}=${JSON.stringify('stringValue' in value ? value.stringValue : String(value.doubleValue))}`,
  )
  return { labels, promLabels: `{${texts.join(', ')}}` }
}

type Steps = { readonly bounds: TimeBounds; readonly slices: number }

async function measure(world: World, { actor, parameters, signal }: ReadCall, { bounds, slices }: Steps) {
  const metric = parseMetric(parameters.get('q') ?? '')
  const startedMs = world.clock.monotonicMs()
  const datasets = await spanDatasets(world, actor)
  if (datasets.length === 0 || bounds.toMs <= bounds.fromMs) return { series: [], isWhole: true }
  const filter = spanFilter({ also: metric.filter }).whole
  const groups = metric.by.map(({ key }) => key)
  let bytes = 0
  const read = async (among: typeof filter, calls: readonly AggregateCall[]): Promise<StatsResult> => {
    const eventQuery = await buildEventQuery(world, actor, { datasets, filter: among, bounds, signal })
    const found = await readStats(world.events, eventQuery, { calls, groups, slices, limit: SERIES_MAX })
    bytes += found.cost.bytes
    return found
  }
  const isCounted = !isOfValues(metric.measured)
  // Where rules have sampled traces, each stored span stands for several.
  const [found, sampled] = await Promise.all([
    read(filter, callsOf(metric.measured)),
    isCounted ? read(and(filter, isSampled), [WEIGHTS]) : undefined,
  ])
  recordSearch(world, actor, { datasets, bytes, startedMs })
  const unstored = unstoredRows(sampled)
  const perStep = metric.measured.kind === 'rate' ? (bounds.toMs - bounds.fromMs) / slices / MS_PER_S : 1
  const series = groupRows(found).flatMap(({ values, rows }) =>
    seriesOf(metric, values, (call) =>
      isCounted
        ? rows.map(({ count }, at) => (count + (unstored.get(nameOfGroup(values))?.[at] ?? 0)) / perStep)
        : rows.map(({ stats }) => measuredValue(metric.measured, stats[call]?.value)),
    ),
  )
  return { series: metric.rank ? ranked(series, metric.rank) : series, isWhole: found.groupsTotal <= found.groups.length }
}

type OfValues = Extract<Measured, { key: string }>
const isOfValues = (measured: Measured): measured is OfValues => 'key' in measured

function callsOf(measured: Measured): readonly AggregateCall[] {
  if (!isOfValues(measured)) return [{ name: 'count' }]
  const { key } = measured
  if (measured.kind !== 'quantiles') return [{ name: measured.kind, key }]
  return measured.of.map((share): AggregateCall => {
    if (share === 0 || share === 1) return { name: share === 0 ? 'min' : 'max', key }
    return { name: 'percentile', key, percent: share * 100, isExact: true }
  })
}

type GroupRows = { readonly values: readonly (string | null)[]; readonly rows: readonly StatsRow[] }

/** The rows of each group by step; all spans are one group without fields. */
function groupRows({ whole, slices, groups }: StatsResult): readonly GroupRows[] {
  const rowsOf = (all: StatsRow, ofSlices: readonly StatsRow[]) => (ofSlices.length > 1 ? ofSlices : [all])
  if (groups.length > 0) return groups.map((group) => ({ values: group.values, rows: rowsOf(group.whole, group.slices) }))
  return whole.count === 0 ? [] : [{ values: [], rows: rowsOf(whole, slices) }]
}

/** What sampled spans stand for besides themselves, by group and step. */
function unstoredRows(sampled: StatsResult | undefined): ReadonlyMap<string, readonly number[]> {
  const groups = sampled ? groupRows(sampled) : []
  return new Map(
    groups.map(({ values, rows }) => [
      nameOfGroup(values),
      rows.map(({ count, stats }) => Math.max(0, Math.round(Number(stats[0]?.value ?? 0)) - count)),
    ]),
  )
}

const measuredValue = (measured: Measured, value: number | string | null | undefined): number | null =>
  typeof value === 'number' && isOfValues(measured) ? value / measured.unit : null

/** A series, or one for each quantile. */
function seriesOf({ name, measured, by }: SpanMetric, values: GroupRows['values'], valuesOf: (call: number) => Series['values']): Series[] {
  const labels = by.map((field, at) => ({ key: field.label, value: { stringValue: labelText(field, values[at] ?? null) } }))
  if (measured.kind === 'quantiles') {
    return measured.of.map((share, call) => ({ labels: [...labels, { key: 'p', value: { doubleValue: share } }], values: valuesOf(call) }))
  }
  return [{ labels: labels.length > 0 ? labels : [{ key: '__name__', value: { stringValue: name } }], values: valuesOf(0) }]
}

/** Statuses and kinds as the query language names them; `nil` for spans without the field. */
function labelText({ key }: GroupField, value: string | null): string {
  if (value === null) return 'nil'
  if (key === '$span.status_code') return value.replace('STATUS_CODE_', '').toLowerCase()
  return key === '$span.kind' ? value.replace('SPAN_KIND_', '').toLowerCase() : value
}

/** Leaves the highest or lowest values of each step, and the series that have any. */
function ranked(series: readonly Series[], { isHighest, count }: NonNullable<SpanMetric['rank']>): Series[] {
  const kept: (number | null)[][] = series.map(({ values }) => values.map(() => null))
  for (const at of series[0]?.values.keys() ?? []) {
    const valued = series.flatMap(({ values }, one) => (typeof values[at] === 'number' ? [{ one, value: values[at] }] : []))
    valued.sort((one, other) => (isHighest ? other.value - one.value : one.value - other.value))
    for (const { one, value } of valued.slice(0, count)) {
      const row = kept[one]
      if (row) row[at] = value
    }
  }
  return series.flatMap(({ labels }, one) => {
    const values = kept[one] ?? []
    return values.some((value) => value !== null) ? [{ labels, values }] : []
  })
}
