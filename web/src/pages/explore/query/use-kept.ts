import { useRef } from 'react'
import { canRetry } from '../../../parts/shell/failure.tsx'
import { boundsOf } from '../../../parts/time/time-range.ts'
import type { TimeSpan } from '../time/time-span.ts'
import type { ExploreQuery } from './explore-query.ts'

type Result<T> = { data: T | undefined; error: unknown; isPlaceholderData: boolean; dataUpdatedAt: number }

/** A KeptResult is the data of a query. With an oldRange, the query has failed, and the data are of that range, from before. */
export type KeptResult<T> = { data: T | undefined; oldRange: TimeSpan | undefined }

/**
 * useKept keeps the last result when a refresh, also one with another range, fails and can be retried. A result of other datasets, of another filter or of
 * another form, such as other groups, is not kept: it would answer another question.
 */
export function useKept<T>({ data, error, isPlaceholderData, dataUpdatedAt }: Result<T>, query: ExploreQuery, form = ''): KeptResult<T> {
  const { datasets, where, range } = query
  const source = JSON.stringify([datasets, where, form])
  const last = useRef<{ source: string; data: T; range: TimeSpan }>(null)
  if (data !== undefined && !isPlaceholderData) last.current = { source, data, range: boundsOf(range, dataUpdatedAt) }
  const kept = last.current
  if (data !== undefined || !error || !canRetry(error) || kept?.source !== source) return { data, oldRange: undefined }
  return { data: kept.data, oldRange: kept.range }
}
