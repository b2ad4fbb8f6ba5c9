import type { ApiKey, User } from '@dendro/api'
import { useMemo } from 'react'
import { useClient } from '../shell/client.ts'
import { recordsOf, searchedText, searchOf, usePages, useSearched } from './pages.tsx'

/** Loads the users that the service finds by words, sorted by name, page by page. */
function useFoundUsers(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['users', 'list', search],
    read: (page, signal) => client.users.list({ query: { sort: 'name', ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ users }) => users)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** Loads the API keys that the service finds by words, sorted by name, page by page. */
function useFoundKeys(words: string) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['api keys', 'list', search],
    read: (page, signal) => client.apiKeys.list({ query: { sort: 'name', ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ api_keys }) => api_keys)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** The users that contain the typed words. */
export const useUserSearch = (words: string) =>
  useSearched(words, useFoundUsers, ({ first_name, last_name, email, tags }: User) => searchedText([first_name, last_name, email], tags))

/** The API keys that contain the typed words. */
export const useKeySearch = (words: string) => useSearched(words, useFoundKeys, ({ name, tags }: ApiKey) => searchedText([name], tags))
