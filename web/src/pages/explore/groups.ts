import type { SearchResponse } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/client.ts'
import { boundsOf, gridOf } from '../../parts/time-range.ts'
import { filterOf, keyOf, type Question, sourceOf } from './questions.ts'

/** A Group is the events with the same values of some keys: how many, what is measured of them, and that over time, null where no event came. */
export type Group = { values: readonly string[]; count: number; value: number; slices: readonly (number | null)[] }
export type Groups = { groups: Group[]; fromMs: number; stepMs: number; slices: number; total: number; isExact: boolean; more: number }

export const measures = ['count(*)', 'unique', 'sum', 'avg', 'min', 'max', 'median', 'p95', 'p99'] as const

const SLICES = 120
const TREND_SLICES = 30
const GROUPS_MAX = 1_000

/** useGroups measures the matching events by some keys, or all together. */
export function useGroups(question: Question, by: readonly string[], measure: string, form: 'table' | 'chart' | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['groups', ...keyOf(question), by, measure, form],
    enabled: form !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Groups> => {
      const bounds = boundsOf(question.range, Date.now())
      // A table counts exactly what was asked; a chart has round steps that stand still.
      const grid =
        form === 'chart'
          ? gridOf(bounds, SLICES)
          : { ...bounds, slices: TREND_SLICES, stepMs: (bounds.toMs - bounds.fromMs) / TREND_SLICES }
      const body = {
        ...sourceOf(question),
        ...filterOf(question),
        from_ts: Math.max(0, grid.fromMs),
        to_ts: grid.toMs,
        select: [measure],
        ...(by.length > 0 ? { groups: by.map(quoted) } : {}),
        num_of_slices: grid.slices,
        limit: GROUPS_MAX,
      }
      const answer = await client.search.run({ body, signal, repeatable: true })
      const groups =
        by.length === 0 ? [wholeOf(answer, measure)] : answer.groups_series.flatMap((one) => leavesOf(one, [], by.length, measure))
      return {
        groups: groups.toSorted((a, b) => b.value - a.value),
        fromMs: grid.fromMs,
        stepMs: grid.stepMs,
        slices: grid.slices,
        total: Number(answer.totals.count),
        isExact: answer.is_exact,
        more: Math.max(0, Number(answer.totals.total_groups ?? 0) - Number(answer.totals.retrieved_groups ?? 0)),
      }
    },
  })
}

/** wholeOf is all events together, where no key takes them apart. */
function wholeOf({ totals }: SearchResponse, measure: string): Group {
  const isCount = measure === 'count(*)'
  const value = Number(totals[measure] ?? totals.count)
  return {
    values: [],
    count: Number(totals.count),
    value,
    slices: (totals.timeseries ?? []).map((slice) => measuredIn(slice, isCount)),
  }
}

const measuredIn = (slice: Series['timeseries'][number], isCount: boolean): number | null =>
  isCount ? Number(slice.count) : Number(slice.count) === 0 ? null : slice.value

/** quoted lets any key be grouped by, whatever it holds. */
const quoted = (key: string): string => (/^[@$]?[a-z_][\w.]*$/i.test(key) ? key : `"${key.replaceAll('"', '""')}"`)

type Series = SearchResponse['groups_series'][number]

function leavesOf(series: Series, above: readonly string[], depth: number, measure: string): Group[] {
  const values = depth === 0 ? [] : [...above, series.name]
  // The declared shape ends after one level; the answer goes on as deep as there are keys.
  const inner = (series.groups_series ?? []) as Series[]
  if (values.length < depth && inner.length > 0) return inner.flatMap((one) => leavesOf(one, values, depth, measure))
  const isCount = measure === 'count(*)'
  return [
    {
      values,
      count: Number(series.count),
      value: isCount ? Number(series.count) : series.value,
      slices: series.timeseries.map((slice) => measuredIn(slice, isCount)),
    },
  ]
}
