import type { SavedSearch } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import type { ChartMark } from '../chart/data.ts'
import { useClient } from '../shell/client.ts'

/** The tag of a saved search whose events are marked on charts, such as deployments. */
export const MARKS_TAG = { name: 'marks', value: 'charts' } as const

const SEARCHES_MAX = 3
const EVENTS_MAX = 50
const FRESH_MS = 60_000

export const isMarked = ({ tags }: Pick<SavedSearch, 'tags'>): boolean => tags[MARKS_TAG.name] === MARKS_TAG.value

/** Loads the events of the marked saved searches in a time span. Callers who may not read them have no marks. */
export function useMarks(fromMs: number | undefined, toMs: number | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['marks', fromMs, toMs],
    enabled: fromMs !== undefined && toMs !== undefined,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }): Promise<ChartMark[]> => {
      try {
        const { saved_searches } = await client.savedSearches.list({ signal })
        const found = await Promise.all(
          saved_searches
            .filter(isMarked)
            .slice(0, SEARCHES_MAX)
            .map(async ({ name, search_details: { from, from_expr, where } }) => {
              const source = from_expr ? { from_expr } : { from: (from ?? '').split(':').filter((id) => id !== '') }
              const body = {
                ...source,
                where: where ?? '',
                select: ['*', '@raw'],
                from_ts: fromMs ?? 0,
                to_ts: toMs ?? 0,
                limit: EVENTS_MAX,
              }
              const { events } = await client.search.run({ body, signal, repeatable: true })
              return events.map(({ metadata, message_kvs, ...event }) => ({
                atMs: metadata.timestamp,
                name: `${name}: ${(message_kvs.message ?? event['@raw'] ?? '').split('\n')[0]?.slice(0, 120)}`,
              }))
            }),
        )
        return found.flat().sort((one, other) => one.atMs - other.atMs)
      } catch (thrown) {
        if (thrown instanceof ApiFailure && thrown.status === 403) return []
        throw thrown
      }
    },
  })
}
