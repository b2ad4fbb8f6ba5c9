import type { Dataset } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from './client.ts'

/** unknownDataset labels an id that is not in the list; only a loaded list proves that the dataset is gone. */
export const unknownDataset = (known: number): string => (known === 0 ? 'a dataset' : 'a deleted dataset')

/** useDatasets loads all datasets the caller may see, also by id. */
export function useDatasets() {
  const client = useClient()
  const query = useQuery({ queryKey: ['datasets'], queryFn: ({ signal }) => client.datasets.list({ signal }), staleTime: 60_000 })
  const byId = useMemo(() => new Map((query.data?.datasets ?? []).map((dataset) => [dataset.id, dataset])), [query.data])
  return { ...query, byId }
}

/** hasReceivedEvents is true for a dataset with events of senders; what Dendro writes itself is not received. */
export const hasReceivedEvents = ({ is_system_generated, metadata }: Dataset): boolean =>
  !is_system_generated && metadata.last_heartbeat_at !== undefined

const systemTexts: ReadonlyMap<string, string> = new Map([
  ['.audit-trail', 'Written by Dendro: changes, sign-ins and refused requests'],
  ['.usage', 'Written by Dendro: the volumes of ingestion, searches and exports'],
])

/** systemText explains a collection that Dendro writes itself. */
export const systemText = (collection: string): string => systemTexts.get(collection) ?? 'Written by Dendro'
