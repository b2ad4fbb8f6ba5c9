import { ApiFailure } from '@dendro/api/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { readAllById } from '../records/by-id.ts'
import { useClient } from './client.ts'

/** Maps ids of users and keys to names, where the caller may see them. Only these are read. */
export function useCallers(ids: readonly string[]): (id: string) => string | undefined {
  const client = useClient()
  const wanted = [...new Set(ids)]
    .filter((id) => id !== '')
    .sort()
    .join()
  const options = { enabled: wanted !== '', placeholderData: keepPreviousData }
  const users = useQuery({
    ...options,
    queryKey: ['users', 'named', wanted],
    queryFn: ({ signal }) =>
      readAllById(
        wanted.split(','),
        async (user_ids) => (await client.users.list({ query: { user_ids: [...user_ids], limit: user_ids.length }, signal })).users,
      ).catch(noneIfForbidden),
  })
  const keys = useQuery({
    ...options,
    queryKey: ['api keys', 'named', wanted],
    queryFn: ({ signal }) =>
      readAllById(
        wanted.split(','),
        async (api_key_ids) =>
          (await client.apiKeys.list({ query: { api_key_ids: [...api_key_ids], limit: api_key_ids.length }, signal })).api_keys,
      ).catch(noneIfForbidden),
  })
  return useMemo(() => {
    const names = new Map([
      ...(users.data ?? []).map(({ id, email }) => [id, email] as const),
      ...(keys.data ?? []).map(({ id, name }) => [id, `key ${name}`] as const),
    ])
    return (id) => names.get(id)
  }, [users.data, keys.data])
}

/** Maps ids of users and keys to names, or to the shortened id. */
export function useCallerNames(ids: readonly string[]): (id: string) => string {
  const callerOf = useCallers(ids)
  return (id) => callerOf(id) ?? `${id.slice(0, 8)}…`
}

function noneIfForbidden(thrown: unknown): never[] {
  if (thrown instanceof ApiFailure && thrown.status === 403) return []
  throw thrown
}
