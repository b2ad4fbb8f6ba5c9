import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'

export const SOURCES = ['sources']
const REFRESH_MS = 5_000

/** Loads the sources that the caller may see, with their state. */
export function useSources() {
  const client = useClient()
  return useQuery({
    queryKey: SOURCES,
    queryFn: async ({ signal }) => (await client.sources.list({ signal })).sources,
    refetchInterval: REFRESH_MS,
  })
}
