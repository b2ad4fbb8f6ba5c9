import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from './client.ts'

/** useCallers gives the name of a person or a key by its id, where this person may see them. */
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

/** useCallerNames gives the name of a person or a key by its id; the id shortened where the name may not be seen. */
export function useCallerNames(): (id: string) => string {
  const callerOf = useCallers()
  return (id) => callerOf(id) ?? `${id.slice(0, 8)}…`
}
