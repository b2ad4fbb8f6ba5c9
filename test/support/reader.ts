import { sql } from '../../server/src/meta/sql.ts'
import { parseFilter } from '../../server/src/query/query.ts'
import type { EventQuery, EventsRequest, EventsResult, FoundEvent, QueryBudget, QuerySource } from '../../server/src/reading/query.ts'
import { readEvents } from '../../server/src/reading/reading.ts'
import { growLayouts, locate } from '../../server/src/resources/data/catalog/catalog.ts'
import { openSenders, type Senders } from './senders.ts'

export const budget: QueryBudget = { bytes: 1e12, rows: 1e10, seconds: 60, memoryBytes: 2 ** 30, spillBytes: 2 ** 30 }

/** Sends lines to datasets of an organization of its own and queries them. */
export type Reader = {
  senders: Senders
  /** Stores lines in a dataset, which the first ones create. */
  send(dataset: string, lines: readonly string[], headers?: Record<string, string>): Promise<void>
  /** openMaps makes objects of a dataset open maps before it has had many lines; the dataset must have events. */
  openMaps(dataset: string, prefixes: readonly string[]): Promise<void>
  source(dataset: string): Promise<QuerySource>
  query(datasets: readonly string[], where?: string, more?: Partial<EventQuery>): Promise<EventQuery>
  events(datasets: readonly string[], where?: string, wish?: Partial<EventsRequest>, more?: Partial<EventQuery>): Promise<EventsResult>
  /** The lines of the events found, newest first by default. */
  lines(datasets: readonly string[], where?: string, wish?: Partial<EventsRequest>): Promise<string[]>
  close(): Promise<void>
}

export async function openReader(given?: Senders): Promise<Reader> {
  const senders = given ?? (await openSenders())
  const { app, org } = senders
  const { world } = app.app
  const row = await world.meta.one<{ number: number }>(sql`select number from organisations where id = ${org.orgId}`)
  const source = async (dataset: string): Promise<QuerySource> => {
    const found = await senders.found('default', dataset)
    if (!found) throw new Error(`there is no dataset ${dataset}`)
    return { logId: found.id, collection: 'default', dataset, located: await locate(world, org.orgId, found.id), keptSinceMs: undefined }
  }
  const query: Reader['query'] = async (datasets, where = '', more = {}) => ({
    orgNumber: row?.number ?? 0,
    sources: await Promise.all(datasets.map(source)),
    filter: parseFilter(where).filter,
    bounds: { fromMs: 0, toMs: app.clock.nowMs() + 48 * 3_600_000 },
    budget,
    signal: new AbortController().signal,
    keepsResults: { slicesFromRows: 0 },
    ...more,
  })
  const events: Reader['events'] = async (datasets, where, wish = {}, more) =>
    readEvents(world.events, await query(datasets, where, more), { limit: 100, newestFirst: true, keys: 'all', withRaw: true, ...wish })
  return {
    senders,
    source,
    query,
    events,
    send: async (dataset, lines, headers = {}) => {
      const reply = await senders.post(lines.join('\n'), { headers: { 'x-service-dataset': dataset, ...headers } })
      if (reply.status !== 200 || reply.body.accepted !== lines.length)
        throw new Error(`lines were not taken: ${JSON.stringify(reply.body)}`)
    },
    openMaps: async (dataset, open) => {
      const { logId } = await source(dataset)
      await growLayouts(world, org.orgId, new Map([[logId, { observed: [], open }]]))
    },
    lines: async (datasets, where, wish) => (await events(datasets, where, wish)).events.map(lineOf),
    close: () => senders.close(),
  }
}

export const lineOf = ({ raw }: FoundEvent): string => Buffer.from(raw ?? []).toString('utf8')
