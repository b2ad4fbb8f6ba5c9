import type { ApiKey, User } from '@dendro/api'
import { useMemo } from 'react'
import { useClient } from '../shell/client.ts'
import { recordsOf, searchedText, searchOf, usePages, useSearched } from './pages.tsx'

type Order = 'newest' | 'name'

/** Loads the users that the service finds by words, page by page. */
function useFoundUsers(words: string, sort: Order) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['users', 'list', sort, search],
    read: (page, signal) => client.users.list({ query: { sort, ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ users }) => users)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

/** Loads the API keys that the service finds by words, page by page. */
function useFoundKeys(words: string, sort: Order) {
  const client = useClient()
  const search = searchOf(words)
  const list = usePages({
    queryKey: ['api keys', 'list', sort, search],
    read: (page, signal) => client.apiKeys.list({ query: { sort, ...search, ...page }, signal }),
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ api_keys }) => api_keys)), [list.data])
  return { ...list, records, isWhole: list.data !== undefined && !list.hasNextPage }
}

const useUsersByName = (words: string) => useFoundUsers(words, 'name')
const useNewestUsers = (words: string) => useFoundUsers(words, 'newest')
const useKeysByName = (words: string) => useFoundKeys(words, 'name')
const useNewestKeys = (words: string) => useFoundKeys(words, 'newest')

const userText = ({ first_name, last_name, email, tags }: User): string => searchedText([first_name, last_name, email], tags)
const keyText = ({ name, tags }: ApiKey): string => searchedText([name], tags)

/** The users that contain the typed words, sorted by name. */
export const useUserSearch = (words: string) => useSearched(words, useUsersByName, userText)

/** The API keys that contain the typed words, sorted by name. */
export const useKeySearch = (words: string) => useSearched(words, useKeysByName, keyText)

/** The users that contain the typed words, newest first. */
export const useUserList = (words: string) => useSearched(words, useNewestUsers, userText)

/** The API keys that contain the typed words, newest first. */
export const useKeyList = (words: string) => useSearched(words, useNewestKeys, keyText)
