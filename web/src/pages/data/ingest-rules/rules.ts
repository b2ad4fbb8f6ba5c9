import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'

export const INGEST_RULES = ['ingest rules']

/** Loads the ingest rules that the caller may see, in their order. */
export function useIngestRules() {
  const client = useClient()
  return useQuery({ queryKey: INGEST_RULES, queryFn: ({ signal }) => client.ingestRules.list({ signal }) })
}
