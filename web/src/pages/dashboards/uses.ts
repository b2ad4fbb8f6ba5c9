import { useQueries } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'
import { useMay } from '../../parts/shell/permitted.tsx'
import { READ_MAX, usesText } from './uses-text.ts'

type User = { readonly name: string; readonly metricIds: readonly string[] }

/** Loads which widgets and monitors use the metrics of each page, a few of each metric. Callers without access to monitors see widgets only. */
export function useMetricUses(idsByPage: readonly (readonly string[])[]) {
  const client = useClient()
  const mayRead = useMay()('monitors_read')
  const pages = idsByPage.filter((ids) => ids.length > 0)
  const queryOf = (ids: readonly string[]) => ({ metric_ids: [...ids], per_metric: READ_MAX, limit: READ_MAX * ids.length })
  const widgets = useQueries({
    queries: pages.map((ids) => ({
      queryKey: ['widgets', 'of metrics', ids],
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<User[]> =>
        (await client.widgets.list({ query: queryOf(ids), signal })).widgets.map(({ name, metric_ids }) => ({
          name,
          metricIds: metric_ids,
        })),
    })),
  })
  const monitors = useQueries({
    queries: pages.map((ids) => ({
      queryKey: ['monitors', 'of metrics', ids],
      enabled: mayRead,
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<User[]> =>
        (await client.monitors.list({ query: queryOf(ids), signal })).monitors.map(({ name, metric_id }) => ({
          name: `the monitor ${name}`,
          metricIds: [metric_id],
        })),
    })),
  })
  return {
    error: [...widgets, ...monitors].find(({ error }) => error)?.error,
    /** Says what uses a metric; undefined while it is unknown. */
    of: (id: string): string | undefined => {
      const at = pages.findIndex((ids) => ids.includes(id))
      const lists = [widgets[at], ...(mayRead ? [monitors[at]] : [])].map((list) => list?.data)
      if (lists.some((list) => list === undefined)) return undefined
      return usesText(lists.map((list) => (list ?? []).filter(({ metricIds }) => metricIds.includes(id)).map(({ name }) => name)))
    },
  }
}
