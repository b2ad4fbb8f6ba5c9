import type { Event, SearchResponse } from '@dendro/api'
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/client.ts'
import { useKnownFields } from '../../../parts/fields.ts'
import { boundsOf, type Grid, gridOf, type Range, timeRangeOf } from '../../../parts/time-range.ts'
import type { DendroClient } from '../../../session/session.ts'

export type { Field, Fields } from '../../../parts/fields.ts'

/** A Question is what every part of the page asks about; `turn` changes when a person asks again. */
export type ExploreQuery = { datasets: readonly string[] | undefined; where: string; range: Range; refreshCount: number }

/**
 * ROWS is a first page of events: enough for any screen, little enough to arrive at once. MORE_ROWS are what whoever goes on reading gets at a time, few
 * enough to be read within a frame.
 */
const FIRST_PAGE_EVENTS = 100
const NEXT_PAGE_EVENTS = 500
const BARS = 120

/** sourceOf is where a question looks, as the service takes it. */
export const sourceOf = ({ datasets }: ExploreQuery) => (datasets === undefined ? { from_expr: '*' } : { from: [...datasets] })
export const filterOf = ({ where }: ExploreQuery) => (where === '' ? {} : { where })
export const queryKeyOf = ({ datasets, where, range, refreshCount }: ExploreQuery) => [datasets, where, range, refreshCount] as const

/** A Cost is what an answer found and what finding it took; bytes are not told of every answer. */
export type ResultCost = { events: number; isExact: boolean; bytes: number | undefined; ms: number }

export const costOf = ({ totals, explain, is_exact }: SearchResponse): ResultCost => ({
  events: Number(totals.count),
  isExact: is_exact,
  bytes: explain['Bytes searched'] === undefined ? undefined : Number(explain['Bytes searched']),
  ms: Number(explain['Execution time (millis)']),
})

const NO_LINKS: Event['links'] = []

export type EventPage = { events: Event[]; cost: ResultCost; next: string | undefined }

/** useEvents are the matching events, newest or oldest first, page by page. A page that nobody waits for any more is cancelled, and with it the question in the store. */
export function useEvents(query: ExploreQuery, isOn: boolean, isOldestFirst: boolean) {
  const client = useClient()
  return useInfiniteQuery({ ...eventsQueryOptions(client, query, isOldestFirst), enabled: isOn, placeholderData: keepPreviousData })
}

/** eventsOf is how events are asked for, and under which name the answer is kept. */
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
        // Links repeat what is known here; without them two hundred thousand events fit into a page.
        events: response.events.map((event) => ({ ...event, metadata: { ...event.metadata, context: '' }, links: NO_LINKS })),
        cost: costOf(response),
        next: next === undefined ? undefined : (new URL(next).searchParams.get('pagination_token') ?? undefined),
      }
    },
    getNextPageParam: (page: EventPage) => page.next,
  })

export type Bar = { fromMs: number; info: number; warn: number; error: number }
/** Bars lie in round steps that may reach beyond the range, which ends at endMs and is lengthMs long. */
export type Bars = { bars: Bar[]; stepMs: number; total: number; isExact: boolean; endMs: number; lengthMs: number }

/** useBars counts the matching events by status in round steps. */
export function useBars(query: ExploreQuery, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['bars', ...queryKeyOf(query)],
    enabled: isOn,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const bounds = boundsOf(query.range, Date.now())
      return countBars(client, query, gridOf(bounds, BARS), signal, bounds)
    },
  })
}

/** countBars counts matching events in every step of a grid. */
export async function countBars(
  client: DendroClient,
  query: ExploreQuery,
  grid: Grid,
  signal: AbortSignal,
  { fromMs, toMs }: { fromMs: number; toMs: number } = grid,
): Promise<Bars> {
  const body = {
    ...sourceOf(query),
    ...filterOf(query),
    from_ts: Math.max(0, grid.fromMs),
    to_ts: Math.max(1, grid.toMs),
    select: ['count(*)'],
    groups: ['@status'],
    num_of_slices: grid.slices,
  }
  const response = await client.search.run({ body, signal, repeatable: true })
  const bars: Bar[] = Array.from({ length: grid.slices }, (_, at) => ({
    fromMs: grid.fromMs + at * grid.stepMs,
    info: 0,
    warn: 0,
    error: 0,
  }))
  for (const { name, timeseries } of response.groups_series) {
    if (name !== 'info' && name !== 'warn' && name !== 'error') continue
    for (const [at, slice] of timeseries.entries()) {
      const bar = bars[at]
      if (bar) bar[name] = Number(slice.count)
    }
  }
  return {
    bars,
    stepMs: grid.stepMs,
    total: Number(response.totals.count),
    isExact: response.is_exact,
    endMs: toMs,
    lengthMs: toMs - fromMs,
  }
}

/** useFields are the keys of the datasets in the range, with their most frequent values. */
export const useFields = ({ datasets, range, refreshCount }: ExploreQuery, isOn: boolean) =>
  useKnownFields({ datasets, range, refreshCount: refreshCount }, isOn)
