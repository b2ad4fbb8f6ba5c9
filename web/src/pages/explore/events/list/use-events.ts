import type { Event } from '@dendro/api'
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useClient } from '../../../../parts/shell/client.ts'
import { timeRangeOf } from '../../../../parts/time/time-range.ts'
import type { DendroClient } from '../../../../session/session.ts'
import { costOf, type ExploreQuery, filterOf, queryKeyOf, type ResultCost, sourceOf } from '../../query/explore-query.ts'

/**
 * FIRST_PAGE_EVENTS fill any screen and arrive at once. NEXT_PAGE_EVENTS are loaded while scrolling, few enough to be parsed within a frame.
 */
const FIRST_PAGE_EVENTS = 100
const NEXT_PAGE_EVENTS = 500

const NO_LINKS: Event['links'] = []

export type EventPage = { events: Event[]; cost: ResultCost; next: string | undefined }

/** Loads the matching events page by page. Cancelling a page also cancels its query in the store. */
export function useEvents(query: ExploreQuery, isOn: boolean, isOldestFirst: boolean) {
  const client = useClient()
  return useInfiniteQuery({ ...eventsQueryOptions(client, query, isOldestFirst), enabled: isOn, placeholderData: keepPreviousData })
}

/** The request and the cache key of events. */
export const eventsQueryOptions = (client: DendroClient, query: ExploreQuery, isOldestFirst: boolean) =>
  infiniteQueryOptions({
    queryKey: ['events', ...queryKeyOf(query), isOldestFirst],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }): Promise<EventPage> => {
      const body = pageParam
        ? { pagination_token: pageParam, per_page: NEXT_PAGE_EVENTS }
        : {
            ...sourceOf(query),
            ...filterOf(query),
            ...timeRangeOf(query.range),
            select: ['*', '@raw'],
            limit: FIRST_PAGE_EVENTS,
            ...(isOldestFirst ? { most_recent_first: false } : {}),
          }
      const response = await client.search.run({ body, signal, repeatable: true })
      const next = response.pagination.next_page_url
      return {
        // Links repeat known facts; without them two hundred thousand events fit into memory.
        events: response.events.map((event) => ({ ...event, metadata: { ...event.metadata, context: '' }, links: NO_LINKS })),
        cost: costOf(response),
        next: next === undefined ? undefined : (new URL(next).searchParams.get('pagination_token') ?? undefined),
      }
    },
    getNextPageParam: (page: EventPage) => page.next,
  })
