import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from './client.ts'

/** unknownDataset says what is known of an id that is not among so many datasets: that it is gone is only known once they are. */
export const unknownDataset = (known: number): string => (known === 0 ? 'a dataset' : 'a dataset that is gone')

/** useDatasets are all datasets this person may know of, also by their ids. */
export function useDatasets() {
  const client = useClient()
  const query = useQuery({ queryKey: ['datasets'], queryFn: ({ signal }) => client.datasets.list({ signal }), staleTime: 60_000 })
  const byId = useMemo(() => new Map((query.data?.datasets ?? []).map((dataset) => [dataset.id, dataset])), [query.data])
  return { ...query, byId }
}
