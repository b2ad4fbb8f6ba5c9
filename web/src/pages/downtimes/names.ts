import { useQueries, useQueryClient } from '@tanstack/react-query'
import { fullName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { readerById } from '../../parts/records/by-id.ts'
import { useClient } from '../../parts/shell/client.ts'
import type { DendroClient } from '../../session/session.ts'

const readMonitor = readerById(
  async (client: DendroClient, ids) => (await client.monitors.list({ query: { monitor_ids: [...ids], limit: ids.length } })).monitors,
)

/** Names monitors and datasets by their ids, of which only these are read. */
export function useNames(all: readonly string[]): (id: string) => string {
  const client = useClient()
  const scope = useQueryClient()
  const ids = [...new Set(all)]
  const { byId, isLoading } = useDatasetsById(ids)
  const monitors = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['monitors', 'name', id],
      queryFn: async () => (await readMonitor(scope, client, id))?.name ?? null,
    })),
  })
  return (id) => {
    const dataset = byId.get(id)
    const name = dataset ? fullName(dataset) : monitors[ids.indexOf(id)]?.data
    return name ?? (isLoading || monitors.some(({ isPending }) => isPending) ? '…' : 'deleted')
  }
}
