import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'

export const FORWARD_CONFIGS = ['forward configs']
const REFRESH_MS = 5_000

/** Loads the forward configs that the caller may see, with the state of their delivery. */
export function useForwardConfigs() {
  const client = useClient()
  return useQuery({
    queryKey: FORWARD_CONFIGS,
    queryFn: async ({ signal }) => (await client.forwardConfigs.list({ signal }))['forward-configs'],
    refetchInterval: REFRESH_MS,
  })
}
