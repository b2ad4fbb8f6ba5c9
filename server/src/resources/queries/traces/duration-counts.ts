import type { TraceList } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { and } from '../../data/event-queries/event-queries.ts'
import { isFailed, lasts } from './span-filter.ts'

type DurationCounts = NonNullable<TraceList['durations']>
type Edges = { readonly from: number; readonly to: number | undefined }

/** From a microsecond to a quarter of an hour, three steps for each power of ten. */
const STEPS = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((one) => one * 1e3 * 10 ** power)).flat()
const edges: readonly Edges[] = [0, ...STEPS, 1e12].map((from, at, all) => ({ from, to: all[at + 1] }))

/** The filters whose matches are to be counted: for each step of duration, all spans and the failed ones. */
export const durationFilters: readonly Filter[] = edges.flatMap(({ from, to }) => {
  const within = lasts(from, to)
  return [within, and(within, isFailed)]
})

/** The counts from the shortest to the longest duration that occurs. */
export function durationCounts(counts: readonly number[]): DurationCounts {
  const all = edges.map(({ from, to }, at) => ({
    from_nano: from,
    ...(to === undefined ? {} : { to_nano: to }),
    spans: counts[2 * at] ?? 0,
    errors: counts[2 * at + 1] ?? 0,
  }))
  const first = all.findIndex(({ spans }) => spans > 0)
  return first < 0 ? [] : all.slice(first, all.findLastIndex(({ spans }) => spans > 0) + 1)
}
