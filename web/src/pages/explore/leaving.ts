import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

/** parts are the questions of this page; what the frame asks goes on. */
const parts = new Set([
  ...['events', 'bars', 'fields', 'patterns', 'pattern trends', 'groups', 'context', 'last event', 'counts of conditions'],
  ...['earlier bars', 'earlier patterns', 'earlier groups', 'difference', 'markers', 'a key', 'pattern of'],
])

/** useCancelUnseen ends the questions that nobody is looking at: when the tab is hidden, and when the page is left. What was cut off is asked again on return. */
export function useCancelUnseen(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let cut: readonly (readonly unknown[])[] = []
    const cancel = () => {
      const running = queries
        .getQueryCache()
        .findAll({ fetchStatus: 'fetching', predicate: ({ queryKey: [part] }) => parts.has(String(part)) })
      cut = running.map(({ queryKey }) => queryKey)
      for (const queryKey of cut) void queries.cancelQueries({ queryKey, exact: true })
    }
    const look = () => {
      if (document.visibilityState === 'hidden') return cancel()
      for (const queryKey of cut) void queries.refetchQueries({ queryKey, exact: true, type: 'active' })
      cut = []
    }
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      cancel()
    }
  }, [queries])
}
