import type { Monitor } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/shell/client.ts'
import type { MonitorListQuery } from './list-query.ts'

/** Some monitors, or all that the list found by a query, but for some. */
type Selection =
  | { readonly kind: 'some'; readonly ids: readonly string[] }
  | { readonly kind: 'all'; readonly of: string; readonly but: readonly string[] }

const NONE: Selection = { kind: 'some', ids: [] }

type SelectionOptions = { query: MonitorListQuery; monitors: readonly Monitor[]; isWhole: boolean }

/** The selected monitors of a list. All includes those on pages that are not shown yet, which are read for it; another query selects none of them. */
export function useSelection({ query, monitors, isWhole }: SelectionOptions) {
  const [stored, setSelection] = useState<Selection>(NONE)
  const key = JSON.stringify(query)
  const selection = stored.kind === 'all' && stored.of !== key ? NONE : stored
  const everything = useAllMonitors(query, selection.kind === 'all' && !isWhole)
  const known = selection.kind === 'some' || isWhole ? monitors : (everything.data ?? [])
  const isTicked = (id: string): boolean => (selection.kind === 'some' ? selection.ids.includes(id) : !selection.but.includes(id))
  const chosen = known.filter(({ id }) => isTicked(id))
  const isAll = selection.kind === 'all' ? selection.but.length === 0 : isWhole && chosen.length === monitors.length
  return {
    chosen,
    isTicked,
    isAll,
    isLoading: known.length === 0,
    error: everything.error,
    toggle: (id: string) =>
      setSelection(
        selection.kind === 'some' ? { ...selection, ids: toggled(selection.ids, id) } : { ...selection, but: toggled(selection.but, id) },
      ),
    toggleAll: () => setSelection(isAll ? NONE : { kind: 'all', of: key, but: [] }),
  }
}

const toggled = (ids: readonly string[], id: string): readonly string[] =>
  ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]

/** The most records that a page of a list may have. */
const PAGE_MAX = 1_000

/** Loads all monitors that a query finds. */
function useAllMonitors(query: MonitorListQuery, isEnabled: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['monitors', 'all', query],
    enabled: isEnabled,
    queryFn: async ({ signal }) => {
      const all: Monitor[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await client.monitors.list({ query: { ...query, limit: PAGE_MAX, ...(cursor ? { cursor } : {}) }, signal })
        all.push(...page.monitors)
        if (page.next_cursor === undefined) return all
        cursor = page.next_cursor
      }
    },
  })
}
