import type { Delta, MetricItem, Series, TimeSlice } from '@dendro/api'
import { sliceLengthMs, sliceStartMs } from '../../../query/slices.ts'
import type { TimeBounds } from '../../../reading/query.ts'
import { sliceTimeText } from '../event-queries/event-queries.ts'
import type { Period } from './period.ts'

/** The number of occurrences and the sum of their measure. */
export type Measured = { count: number; sum: number }
export type Sliced = Measured & { slice: number }

/** How a value is computed from what was measured. */
export type Stat = { stat: 'SUM' | 'AVG'; key: string }

export const NOTHING: Measured = { count: 0, sum: 0 }

export const statText = ({ stat, key }: Stat): string => `${stat.toLowerCase()}(${key})`

export const valueIn = ({ stat }: Stat, { count, sum }: Measured): number => (stat === 'SUM' ? sum : count === 0 ? 0 : sum / count)

export function allOf(parts: readonly Measured[]): Measured {
  return parts.reduce((all, { count, sum }) => ({ count: all.count + count, sum: all.sum + sum }), NOTHING)
}

/** One group over a period, including empty slices. */
export function seriesOf(level: { key: string; name: string }, stat: Stat, period: Period, parts: readonly Sliced[]): Series {
  const whole = allOf(parts)
  return {
    ...level,
    count: whole.count,
    stat: statText(stat),
    value: valueIn(stat, whole),
    quantiles: {},
    series_resolution_ms: sliceLengthMs(period, period.slices),
    timeseries: slicesOf(stat, period, parts),
  }
}

export function slicesOf(stat: Stat, period: Period, parts: readonly Sliced[]): (TimeSlice & { '@time': string })[] {
  const bySlice = Map.groupBy(parts, ({ slice }) => slice)
  return Array.from({ length: period.slices }, (_, slice) => {
    const measured = allOf(bySlice.get(slice) ?? [])
    const startMs = sliceStartMs(period, period.slices, slice)
    return {
      '@timestamp': String(startMs),
      '@time': sliceTimeText(startMs),
      count: measured.count,
      value: valueIn(stat, measured),
      quantiles: {},
    }
  })
}

/** Slices with their numbers as text. */
export const textSlicesOf = (stat: Stat, period: Period, parts: readonly Sliced[]): MetricItem['series'] =>
  slicesOf(stat, period, parts).map((slice) => ({ ...slice, count: String(slice.count), value: withFraction(slice.value) }))

const withFraction = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value))

/** Compares with an earlier period. */
export function deltaOf(stat: Stat, { fromMs, toMs }: TimeBounds, now: Measured, before: Measured): Delta {
  const [value, earlier] = [valueIn(stat, now), valueIn(stat, before)]
  const factor = earlier === 0 ? 0 : (value - earlier) / earlier
  return {
    start_time: fromMs,
    end_time: toMs,
    total_count: before.count,
    total_value: earlier,
    delta_value: value - earlier,
    delta_factor: factor,
    aggregates: [{ function: statText(stat), value: earlier }],
    changes: [{ function: statText(stat), value: value - earlier, factor }],
  }
}
