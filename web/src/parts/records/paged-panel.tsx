import { useState } from 'react'
import { Input } from '../../ui/field.tsx'
import { useSettled } from '../query/settled.ts'
import { MorePages, recordsOf, SETTLE_MS, searchOf, usePages } from './pages.tsx'

/** The number of records from which the search field is shown. */
const SEARCHED_FROM = 10

type ReadPage<T> = { readonly records: readonly T[]; readonly next_cursor?: string | undefined }
type PagedPanelOptions<T> = {
  /** Names one record. */
  noun: string
  queryKey: readonly unknown[]
  read(query: { limit: number; cursor?: string; search?: string }, signal: AbortSignal): Promise<ReadPage<T>>
}

/** Reads the list of a panel page by page, with a field for a search by the service and a button for the next page. */
export function usePagedPanel<T extends { readonly id: string }>({ noun, queryKey, read }: PagedPanelOptions<T>) {
  const [find, setFind] = useState('')
  const search = searchOf(useSettled(find, SETTLE_MS))
  const pages = usePages({ queryKey: [...queryKey, 'pages', search], read: (page, signal) => read({ ...page, ...search }, signal) })
  const records = pages.data && recordsOf(pages.data.pages.map((page) => page.records))
  const label = `Find a ${noun}`
  return {
    isSearched: find !== '',
    list: { ...pages, data: records },
    search: (find !== '' || (records?.length ?? 0) > SEARCHED_FROM) && (
      <Input aria-label={label} placeholder={label} className="max-w-56" value={find} onChange={({ target }) => setFind(target.value)} />
    ),
    below: <MorePages of={pages} />,
  }
}
