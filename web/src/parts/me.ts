import { useQuery } from '@tanstack/react-query'
import { useClient } from './client.ts'

/** useMe is who is signed in, and what that person or key may do. */
export function useMe() {
  const client = useClient()
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.auth.me({ signal }), staleTime: Number.POSITIVE_INFINITY })
}
