import type { QueryClient } from '@tanstack/react-query'
import { clientOf, keptCredential } from '../../session/session.ts'
import { type Asked, chosenOf } from './asked.ts'
import { eventsOf } from './questions.ts'

/** askAhead asks for the first rows before anything is drawn: the service looks for them while the page is put together. */
export function askAhead(queries: QueryClient, asked: Asked): void {
  const credential = keptCredential()
  if (!credential || asked.live || (asked.tab ?? 'events') !== 'events') return
  const question = { datasets: asked.d, where: asked.q ?? '', range: chosenOf(asked), turn: 0 }
  void queries.prefetchInfiniteQuery(eventsOf(clientOf(credential), question, asked.asc === true))
}
