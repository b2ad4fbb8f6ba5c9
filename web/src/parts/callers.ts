import { useQuery } from '@tanstack/react-query'
import { useClient } from './client.ts'

/** useCallerNames gives the name of a person or a key by its id, where this person may see them; the id shortened otherwise. */
export function useCallerNames(): (id: string) => string {
  const client = useClient()
  const users = useQuery({ queryKey: ['users'], queryFn: ({ signal }) => client.users.list({ signal }) })
  const keys = useQuery({ queryKey: ['api keys'], queryFn: ({ signal }) => client.apiKeys.list({ signal }) })
  return (id) => {
    const key = keys.data?.api_keys.find((one) => one.id === id)
    return key ? `key ${key.name}` : (users.data?.users.find((one) => one.id === id)?.email ?? `${id.slice(0, 8)}…`)
  }
}
