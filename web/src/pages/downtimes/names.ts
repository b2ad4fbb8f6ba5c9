import { useQueries } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'

/** The number of ids in one request. */
const IDS_MAX = 100

/** Names monitors and datasets by their ids, of which only these are read. */
export function useNames(ids: readonly string[]): (id: string) => string {
  const client = useClient()
  const sorted = [...new Set(ids)].toSorted()
  const parts = Array.from({ length: Math.ceil(sorted.length / IDS_MAX) }, (_, at) => sorted.slice(at * IDS_MAX, (at + 1) * IDS_MAX))
  const reads = useQueries({
    queries: parts.flatMap((part) => [
      {
        queryKey: ['monitors', 'names', part],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const { monitors } = await client.monitors.list({ query: { monitor_ids: part, limit: IDS_MAX }, signal })
          return new Map(monitors.map(({ id, name }) => [id, name]))
        },
      },
      {
        queryKey: ['datasets', 'names', part],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const { datasets } = await client.datasets.list({ query: { from: part, limit: IDS_MAX }, signal })
          return new Map(datasets.map(({ id, collection, dataset }) => [id, `${collection} / ${dataset}`]))
        },
      },
    ]),
  })
  const isLoading = reads.some(({ isPending }) => isPending)
  return (id) => reads.find(({ data }) => data?.has(id))?.data?.get(id) ?? (isLoading ? '…' : 'deleted')
}
