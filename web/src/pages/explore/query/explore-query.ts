import type { SearchResponse } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import type { Range } from '../../../parts/time/time-range.ts'

/** The query of every part of the page; `refreshCount` changes when the user refreshes. */
export type ExploreQuery = { datasets: readonly string[] | undefined; where: string; range: Range; refreshCount: number }

/** The datasets of a query in the form of the API. */
export const sourceOf = ({ datasets }: ExploreQuery) => (datasets === undefined ? { from_expr: '*' } : { from: [...datasets] })
export const filterOf = ({ where }: ExploreQuery) => (where === '' ? {} : { where })
export const queryKeyOf = ({ datasets, where, range, refreshCount }: ExploreQuery) => [datasets, where, range, refreshCount] as const

/** The number of results and the cost of a query. Some responses do not report bytes. */
export type ResultCost = { events: number; isExact: boolean; bytes: number | undefined; ms: number }

export const costOf = ({ totals, explain, is_exact }: SearchResponse): ResultCost => ({
  events: Number(totals.count),
  isExact: is_exact,
  bytes: explain['Bytes searched'] === undefined ? undefined : Number(explain['Bytes searched']),
  ms: Number(explain['Execution time (millis)']),
})

export const isQueryError = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ field }) => field === 'where')
