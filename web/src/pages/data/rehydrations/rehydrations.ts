import type { Rehydration } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'

export const REHYDRATIONS = ['rehydrations']
const AT_WORK_MS = 1_500
const AT_REST_MS = 20_000

export const isAtWork = ({ ended_at }: Pick<Rehydration, 'ended_at'>): boolean => ended_at === undefined

/** Loads the latest rehydrations with their progress. */
export function useRehydrations() {
  const client = useClient()
  return useQuery({
    queryKey: REHYDRATIONS,
    queryFn: async ({ signal }) => (await client.rehydrations.list({ signal })).rehydrations,
    refetchInterval: ({ state }) => (state.data?.some(isAtWork) ? AT_WORK_MS : AT_REST_MS),
  })
}

/** The share of the files that has been read, in percent; undefined until they are listed. */
export function progressOf({ bytes: size, ended_bytes, files, ended_files }: Rehydration): number | undefined {
  if (files === 0) return undefined
  return size > 0 ? Math.floor((100 * ended_bytes) / size) : Math.floor((100 * ended_files) / files)
}
