import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from '../shell/client.ts'

/** Labels an id that is not in the list; only a loaded list proves that the dataset is gone. */
export const unknownDataset = (known: number): string => (known === 0 ? 'a dataset' : 'a deleted dataset')

/** Names datasets by their ids. */
export function useDatasetNames(): (id: string) => string {
  const { byId } = useDatasets()
  return (id) => {
    const dataset = byId.get(id)
    return dataset ? `${dataset.collection}.${dataset.dataset}` : unknownDataset(byId.size)
  }
}

/** Loads all datasets the caller may see, also by id. */
export function useDatasets() {
  const client = useClient()
  const query = useQuery({ queryKey: ['datasets'], queryFn: ({ signal }) => client.datasets.list({ signal }), staleTime: 60_000 })
  const byId = useMemo(() => new Map((query.data?.datasets ?? []).map((dataset) => [dataset.id, dataset])), [query.data])
  return { ...query, byId }
}
