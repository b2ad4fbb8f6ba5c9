import { useQuery } from '@tanstack/react-query'
import { useClient } from './client.ts'

/** Loads the signed-in user or key with its permissions. */
export function useMe() {
  const client = useClient()
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.auth.me({ signal }), staleTime: Number.POSITIVE_INFINITY })
}
