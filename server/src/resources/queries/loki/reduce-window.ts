import type { LogqlRange } from './logql/tree.ts'

const MS_PER_S = 1_000
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length

/** Computes the value of a window from its samples, of which there is at least one, in order of time. */
export function reduceWindow({ name, parameter, rangeMs }: LogqlRange, values: readonly number[]): number {
  switch (name) {
    case 'count_over_time':
    case 'bytes_over_time':
    case 'sum_over_time':
      return sum(values)
    case 'rate':
    case 'bytes_rate':
      return sum(values) / (rangeMs / MS_PER_S)
    case 'avg_over_time':
      return mean(values)
    case 'min_over_time':
      return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
    case 'max_over_time':
      return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
    case 'stddev_over_time':
      return Math.sqrt(varianceOf(values))
    case 'stdvar_over_time':
      return varianceOf(values)
    case 'quantile_over_time':
      return quantileOf(values, parameter ?? 0)
    case 'first_over_time':
      return values[0] ?? Number.NaN
    case 'last_over_time':
      return values.at(-1) ?? Number.NaN
  }
}

/** The variance of a population. */
export function varianceOf(values: readonly number[]): number {
  const center = mean(values)
  return mean(values.map((value) => (value - center) ** 2))
}

/** The quantile with linear interpolation between neighbors. */
function quantileOf(values: readonly number[], quantile: number): number {
  if (quantile < 0) return Number.NEGATIVE_INFINITY
  if (quantile > 1) return Number.POSITIVE_INFINITY
  const sorted = values.toSorted((one, other) => one - other)
  const rank = quantile * (sorted.length - 1)
  const lower = Math.floor(rank)
  const [below = Number.NaN, above = below] = [sorted[lower], sorted[Math.min(lower + 1, sorted.length - 1)]]
  return below + (above - below) * (rank - lower)
}
