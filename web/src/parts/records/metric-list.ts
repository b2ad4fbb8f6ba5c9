import type { MetricDefinition } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { DendroClient } from '../../session/session.ts'
import { measureText } from '../query/metric-queries.ts'
import { useClient } from '../shell/client.ts'
import { readAllById } from './by-id.ts'
import { recordsOf, searchedText, searchOf, usePages, useSearched } from './pages.tsx'

const METRICS = ['metric definitions'] as const
/** A form begins with what is stored, not with what was loaded for an earlier one. */
const FORM_GC_MS = 0

export const metricName = ({ name, queries }: Pick<MetricDefinition, 'name' | 'queries'>): string => name ?? measureText(queries)

/** Loads the metrics that the service finds by words, sorted by name, page by page. */
function useFoundMetrics(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: [...METRICS, 'list', search],
    read: (page, signal) => client.metricDefinitions.list({ query: { sort: 'name', ...search, ...page }, signal }),
  })
  const pages = useMemo(() => (list.data?.pages ?? []).map(({ metric_definitions }) => metric_definitions), [list.data])
  const records = useMemo(() => recordsOf(pages), [pages])
  return { ...list, pages, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** The metrics that contain the typed words. */
export const useMetricSearch = (words: string) => useSearched(words, useFoundMetrics, textOf)

const textOf = ({ name = '', description = '', queries, formulas = [] }: MetricDefinition): string =>
  searchedText(
    [
      name,
      description,
      ...queries.flatMap(({ select, where, groups = [] }) => [...select, where, ...groups]),
      ...formulas.map(({ expression }) => expression),
    ],
    {},
  )

export const readMetrics = (client: DendroClient, ids: readonly string[], signal?: AbortSignal): Promise<readonly MetricDefinition[]> =>
  readAllById(ids, async (some) => {
    const query = { metric_ids: [...some], limit: some.length }
    return (await client.metricDefinitions.list({ query, ...(signal ? { signal } : {}) })).metric_definitions
  })

/** Loads the metrics of some ids; those that are deleted are not among them. */
export function useMetricsById(ids: readonly string[]) {
  const client = useClient()
  return useQuery({
    queryKey: [...METRICS, 'by id', [...ids].sort()],
    gcTime: FORM_GC_MS,
    queryFn: ({ signal }) => readMetrics(client, ids, signal),
  })
}

/** Loads one metric. */
export function useMetric(id: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: [...METRICS, id],
    gcTime: FORM_GC_MS,
    enabled: id !== undefined,
    queryFn: ({ signal }) => client.metricDefinitions.get({ params: { metricId: id ?? '' }, signal }),
  })
}
