import type { QueryClient } from '@tanstack/react-query'
import { clientOf, keptCredential } from '../../../session/session.ts'
import { eventsQueryOptions } from '../events/use-events.ts'
import { type ExploreParams, selectedRangeOf } from '../explore-params.ts'

/** askAhead asks for the first rows before anything is drawn: the service looks for them while the page is put together. */
export function prefetchEvents(queries: QueryClient, params: ExploreParams): void {
  const credential = keptCredential()
  if (!credential || params.live || (params.tab ?? 'events') !== 'events') return
  const query = { datasets: params.d, where: params.q ?? '', range: selectedRangeOf(params), refreshCount: 0 }
  void queries.prefetchInfiniteQuery(eventsQueryOptions(clientOf(credential), query, params.asc === true))
}
