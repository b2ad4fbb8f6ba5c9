import type { MetricTimeseries } from '@dendro/api'
import { expect, test } from 'vitest'
import { chartsOf, failedWhere, spansWhere, versionMarks } from './service-series.ts'

const slice = (count: number, p95 = 0) => ({
  '@timestamp': '0',
  count,
  value: 0,
  quantiles: { min: 0, p25: 0, p50: p95 / 2, p75: 0, p90: 0, p95, p99: 2 * p95, p999: 0, max: 0 },
})
const series = (counts: readonly number[], p95 = 0): MetricTimeseries =>
  ({ series: counts.map((count) => slice(count, p95)), groups_series: [] }) as unknown as MetricTimeseries

const unweighted = { weights: undefined, failedWeights: undefined }
const weights = (counts: readonly number[], values: readonly number[]): MetricTimeseries =>
  ({ series: counts.map((count, at) => ({ ...slice(count), value: values[at] })), groups_series: [] }) as unknown as MetricTimeseries

test('numbers of spans count what sampled ones stand for, and say so', () => {
  const grid = { fromMs: 1_000, toMs: 3_000, stepMs: 1_000, slices: 2 }
  const now = {
    durations: series([4, 3]),
    failed: series([1, 1]),
    weights: weights([2, 0], [8, 0]),
    failedWeights: weights([0, 1], [0, 2.5]),
  }
  const before = { ...unweighted, durations: series([2, 2]), failed: series([0, 0]) }
  const charts = chartsOf(grid, now, before, undefined)
  expect([charts.spans.series, charts.failed.series, charts.isSampled]).toEqual([
    [{ name: 'spans', values: [10, 3], before: [2, 2] }],
    [{ name: 'error', values: [1, 3], before: [0, 0] }],
    true,
  ])
  expect(chartsOf(grid, before, before, undefined).isSampled).toBe(false)
})

test('filters name the service and the operation, whatever their characters', () => {
  expect(spansWhere({ service: "ann's" })).toBe("$service.name = 'ann''s'")
  expect(failedWhere({ service: 'a', operation: 'b' })).toBe(
    "$service.name = 'a' AND $span.name = 'b' AND $span.status_code = 'STATUS_CODE_ERROR'",
  )
})

test('series have the values of the time before, and no duration where there is no span', () => {
  const grid = { fromMs: 1_000, toMs: 3_000, stepMs: 1_000, slices: 2 }
  const charts = chartsOf(
    grid,
    { ...unweighted, durations: series([4, 0], 10), failed: series([1, 0]) },
    { ...unweighted, durations: series([2, 2], 8), failed: undefined },
    undefined,
  )
  expect(charts.isEstimated).toBe(false)
  expect(charts.spans).toEqual({ times: [1_000, 2_000], stepMs: 1_000, series: [{ name: 'spans', values: [4, 0], before: [2, 2] }] })
  expect(charts.failed.series).toEqual([{ name: 'error', values: [1, 0], before: [0, 0] }])
  expect(charts.durations.series).toEqual([
    { name: 'p50', values: [5, null] },
    { name: 'p95', values: [10, null], before: [8, 8] },
    { name: 'p99', values: [20, null] },
  ])
})

test('durations of too many spans are estimates', () => {
  const grid = { fromMs: 1_000, toMs: 3_000, stepMs: 1_000, slices: 2 }
  const of = (is_exact: boolean) => ({ ...unweighted, durations: { ...series([4, 3], 10), is_exact }, failed: undefined })
  expect([of(true), of(false)].map((before) => chartsOf(grid, of(true), before, undefined).isEstimated)).toEqual([false, true])
})

test('a version is marked where it begins, unless it ran from the start', () => {
  const group = (name: string, counts: readonly number[]) => ({ name, timeseries: counts.map((count) => slice(count)) })
  const versions = {
    groups_series: [group('2', [0, 0, 5]), group('1', [5, 5, 0]), group('', [0, 1, 1]), group('null', [0, 1, 1])],
  } as unknown as MetricTimeseries
  expect(versionMarks([10, 20, 30], versions)).toEqual([{ atMs: 30, name: 'version 2' }])
  expect(versionMarks([10], undefined)).toEqual([])
})
