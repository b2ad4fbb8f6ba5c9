import { EVENTS_MAX, type SearchResponse } from '@dendro/api'
import type { CliClient } from './connection.ts'
import { explained } from './failure.ts'

type EventsBody = NonNullable<NonNullable<Parameters<CliClient['search']['run']>[0]>['body']>

/** Fetches pages until the limit. */
export async function* eventPages(client: CliClient, body: EventsBody, limit: number, signal: AbortSignal): AsyncGenerator<SearchResponse> {
  let left = limit
  let token: string | undefined
  do {
    const pageSize = Math.min(left, EVENTS_MAX)
    const request = token === undefined ? { ...body, limit: pageSize } : { pagination_token: token, per_page: pageSize }
    const page = await explained(body, client.search.run({ body: request, repeatable: true, signal }))
    yield page
    left -= page.events.length
    const next = page.pagination.next_page_url
    token = next === undefined || page.events.length === 0 ? undefined : (new URL(next).searchParams.get('pagination_token') ?? undefined)
  } while (token !== undefined && left > 0)
}
