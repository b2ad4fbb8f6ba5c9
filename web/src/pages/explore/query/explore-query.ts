import type { SearchResponse } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import type { Range } from '../../../parts/time-range.ts'

/** A Question is what every part of the page asks about; `turn` changes when a person asks again. */
export type ExploreQuery = { datasets: readonly string[] | undefined; where: string; range: Range; refreshCount: number }

/** sourceOf is where a question looks, as the service takes it. */
export const sourceOf = ({ datasets }: ExploreQuery) => (datasets === undefined ? { from_expr: '*' } : { from: [...datasets] })
export const filterOf = ({ where }: ExploreQuery) => (where === '' ? {} : { where })
export const queryKeyOf = ({ datasets, where, range, refreshCount }: ExploreQuery) => [datasets, where, range, refreshCount] as const

/** A Cost is what an answer found and what finding it took; bytes are not told of every answer. */
export type ResultCost = { events: number; isExact: boolean; bytes: number | undefined; ms: number }

export const costOf = ({ totals, explain, is_exact }: SearchResponse): ResultCost => ({
  events: Number(totals.count),
  isExact: is_exact,
  bytes: explain['Bytes searched'] === undefined ? undefined : Number(explain['Bytes searched']),
  ms: Number(explain['Execution time (millis)']),
})

export const isQueryError = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ field }) => field === 'where')
