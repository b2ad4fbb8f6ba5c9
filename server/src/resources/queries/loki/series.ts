import { badRequest, type Failure } from '../../../kernel/errors.ts'
import type { LabelSet } from './event-labels.ts'

/** The values of one set of labels at each time of a query; undefined where it has none. */
export type LokiSeries = { readonly labels: LabelSet; readonly values: readonly (number | undefined)[] }

/** The times at which a query is evaluated. An instant query has one. */
export type EvaluationTimes = { readonly startMs: number; readonly stepMs: number; readonly count: number }

export const timeAt = ({ startMs, stepMs }: EvaluationTimes, index: number): number => startMs + index * stepMs

/** A number for all times, or series. */
export type Evaluated =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'series'; readonly series: readonly LokiSeries[] }

/** The largest number of series of an answer, and of values that a query may hold at once. */
export const SERIES_MAX = 1_000
export const VALUES_MAX = 2_000_000

export const tooManyValues = (): Failure =>
  badRequest('the query has too many series and steps; group by fewer labels, or use a larger step')
