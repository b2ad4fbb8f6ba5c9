import type { Dashboard } from '@dendro/api'
import { useMemo } from 'react'
import { useClient } from '../shell/client.ts'
import { recordsOf, searchedText, searchOf, usePages, useSearched } from './pages.tsx'

/** The key of the lists of dashboards. */
export const DASHBOARD_LISTS = ['dashboards', 'list'] as const

/** Loads the dashboards that the service finds by words, sorted by name, page by page. */
function useFoundDashboards(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: [...DASHBOARD_LISTS, search],
    read: (page, signal) => client.dashboards.list({ query: { sort: 'name', ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ dashboards }) => dashboards)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** The dashboards that contain the typed words. */
export const useDashboardSearch = (words: string) =>
  useSearched(words, useFoundDashboards, ({ name, description = '', tags }: Dashboard) => searchedText([name, description], tags))
