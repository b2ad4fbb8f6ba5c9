import type { NotebookSummary } from '@dendro/api'
import { useMemo } from 'react'
import { useClient } from '../shell/client.ts'
import { recordsOf, searchOf, usePages, useSearched } from './pages.tsx'

/** Loads the notebooks that the service finds by words, the last changed first, page by page. */
function useFoundNotebooks(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['notebooks', 'list', search],
    read: (page, signal) => client.notebooks.list({ query: { ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ notebooks }) => notebooks)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** The notebooks that contain the typed words. */
export const useNotebookSearch = (words: string) =>
  useSearched(words, useFoundNotebooks, ({ name, description = '' }: NotebookSummary) => `${name} ${description}`)
