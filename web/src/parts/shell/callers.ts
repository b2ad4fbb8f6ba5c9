import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from './client.ts'

/** Maps ids of users and keys to names, where the caller may see them. */
export function useCallers(): (id: string) => string | undefined {
  const client = useClient()
  const users = useQuery({ queryKey: ['users'], queryFn: ({ signal }) => client.users.list({ signal }) })
  const keys = useQuery({ queryKey: ['api keys'], queryFn: ({ signal }) => client.apiKeys.list({ signal }) })
  return useMemo(() => {
    const names = new Map([
      ...(users.data?.users ?? []).map(({ id, email }) => [id, email] as const),
      ...(keys.data?.api_keys ?? []).map(({ id, name }) => [id, `key ${name}`] as const),
    ])
    return (id) => names.get(id)
  }, [users.data, keys.data])
}

/** Maps ids of users and keys to names, or to the shortened id. */
export function useCallerNames(): (id: string) => string {
  const callerOf = useCallers()
  return (id) => callerOf(id) ?? `${id.slice(0, 8)}…`
}
