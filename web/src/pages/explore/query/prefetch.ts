import type { QueryClient } from '@tanstack/react-query'
import { clientOf, keptCredential } from '../../../session/session.ts'
import { eventsQueryOptions } from '../events/list/use-events.ts'
import { type ExploreParams, selectedRangeOf } from '../explore-params.ts'

/** Requests the first events before the page renders. */
export function prefetchEvents(queries: QueryClient, params: ExploreParams): void {
  const credential = keptCredential()
  if (!credential || params.live || (params.tab ?? 'events') !== 'events') return
  const query = { datasets: params.d, where: params.q ?? '', range: selectedRangeOf(params), refreshCount: 0 }
  void queries.prefetchInfiniteQuery(eventsQueryOptions(clientOf(credential), query, params.asc === true))
}
