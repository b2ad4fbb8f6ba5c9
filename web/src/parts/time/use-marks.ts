import type { SavedSearch } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import type { DendroClient } from '../../session/session.ts'
import type { ChartMark } from '../chart/data.ts'
import { PAGE } from '../records/pages.tsx'
import { useClient } from '../shell/client.ts'

/** The tag of a saved search whose events are marked on charts, such as deployments. */
export const MARKS_TAG = { name: 'marks', value: 'charts' } as const

const SEARCHES_MAX = 3
const EVENTS_MAX = 50
const FRESH_MS = 60_000

export const isMarked = ({ tags }: Pick<SavedSearch, 'tags'>): boolean => tags[MARKS_TAG.name] === MARKS_TAG.value

/** The newest saved searches with the tag. The service finds those that contain its words anywhere. */
async function markedSearches(client: DendroClient, signal: AbortSignal): Promise<readonly SavedSearch[]> {
  const marked: SavedSearch[] = []
  const query = { search: `${MARKS_TAG.name} ${MARKS_TAG.value}`, limit: PAGE }
  for (let cursor: string | undefined, isLast = false; !isLast && marked.length < SEARCHES_MAX; isLast = cursor === undefined) {
    const page = await client.savedSearches.list({ query: { ...query, ...(cursor === undefined ? {} : { cursor }) }, signal })
    marked.push(...page.saved_searches.filter(isMarked))
    cursor = page.next_cursor
  }
  return marked.slice(0, SEARCHES_MAX)
}

/** Loads the events of the marked saved searches in a time span. Callers who may not read them have no marks. */
export function useMarks(fromMs: number | undefined, toMs: number | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['marks', fromMs, toMs],
    enabled: fromMs !== undefined && toMs !== undefined,
    staleTime: FRESH_MS,
    queryFn: async ({ signal }): Promise<ChartMark[]> => {
      try {
        const found = await Promise.all(
          (await markedSearches(client, signal)).map(async ({ name, search_details: { from, from_expr, where } }) => {
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
