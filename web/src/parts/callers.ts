import { useQuery } from '@tanstack/react-query'
import { useClient } from './client.ts'

/** useCallerNames gives the name of a person or a key by its id, where this person may see them; the id shortened otherwise. */
export function useCallerNames(): (id: string) => string {
  const client = useClient()
  const names = useQuery({
    queryKey: ['names of callers'],
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      const [users, keys] = await Promise.allSettled([client.users.list({ signal }), client.apiKeys.list({ signal })])
      return new Map([
        ...(users.status === 'fulfilled' ? users.value.users.map(({ id, email }) => [id, email] as const) : []),
        ...(keys.status === 'fulfilled' ? keys.value.api_keys.map(({ id, name }) => [id, `key ${name}`] as const) : []),
      ])
    },
  })
  return (id) => names.data?.get(id) ?? `${id.slice(0, 8)}…`
}
