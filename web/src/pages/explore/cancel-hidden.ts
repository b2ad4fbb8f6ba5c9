import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

/** The queries of this page. Queries of the frame around it continue. */
const queryNames = new Set([
  ...['events', 'bars', 'fields', 'patterns', 'pattern trends', 'groups', 'context', 'last event', 'counts of conditions'],
  ...['earlier bars', 'earlier patterns', 'earlier groups', 'changes', 'markers', 'marks', 'field lookup'],
])

/** Cancels running queries when the tab is hidden or the page is left, and repeats them when the tab is visible again. */
export function useCancelHidden(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let cancelled: readonly (readonly unknown[])[] = []
    const cancel = () => {
      const running = queries
        .getQueryCache()
        .findAll({ fetchStatus: 'fetching', predicate: ({ queryKey: [name] }) => queryNames.has(String(name)) })
      cancelled = running.map(({ queryKey }) => queryKey)
      for (const queryKey of cancelled) void queries.cancelQueries({ queryKey, exact: true })
    }
    const onVisibilityChange = () => {
      if (document.visibilityState === 'hidden') return cancel()
      for (const queryKey of cancelled) void queries.refetchQueries({ queryKey, exact: true, type: 'active' })
      cancelled = []
    }
    document.addEventListener('visibilitychange', onVisibilityChange)
    return () => {
      document.removeEventListener('visibilitychange', onVisibilityChange)
      cancel()
    }
  }, [queries])
}
