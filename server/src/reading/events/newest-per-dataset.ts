import type { EventStore } from '../../events/store/events.ts'
import { countStatements } from '../plan/count-scopes.ts'
import { tableReadsFor } from '../plan/table-reads.ts'
import type { EventQuery, EventsRequest, FoundEvent, QueryCost, QuerySource, TimeBounds } from '../query.ts'
import { costOf, type QueryRun, runAtOnce, startQueryRun } from '../run/run.ts'
import { areResultsKept } from '../run/statement-results.ts'
import { name, sql } from '../sql/sql.ts'
import { countScopes } from '../statistics/minute-rollup.ts'
import { eventsPerTable } from './events-statement.ts'
import { eventsOf, withinRetention } from './read-events.ts'
import { windowsOf } from './time-windows.ts'

/** How many datasets with more events than the limit share a statement. Each stops reading by itself. */
const LARGE_AT_ONCE = 50
/** How many events of small datasets (with at most `limit` events) are read by one statement. */
const SMALL_EVENTS = 20_000

/** Receives the newest events of one dataset, the newest first. */
export type NewestEventsHandler = (logId: string, events: readonly FoundEvent[]) => void

/**
 * Calls the handler with up to `limit` of the newest events of each source that has any. The filter of the query is ignored. Events are not
 * kept after the call, so memory use does not grow with the number of sources.
 */
export async function readNewestOfEach(
  store: EventStore,
  query: EventQuery,
  limit: number,
  handle: NewestEventsHandler,
): Promise<QueryCost> {
  const queryRun = startQueryRun(query)
  const request: EventsRequest = { limit, newestFirst: true, keys: 'all', withRaw: false }
  const counts = await countsOf(store, queryRun, query)
  const countOf = ({ logId }: QuerySource) => counts.get(logId) ?? 0
  const { small = [], large = [] } = Object.groupBy(
    query.sources.filter((one) => countOf(one) > 0),
    (one) => (countOf(one) <= limit ? 'small' : 'large'),
  )
  for (const sources of packSources(small, countOf)) {
    const all = { ...request, limit: SMALL_EVENTS + limit }
    await readWindow(
      store,
      queryRun,
      { sources, tableReads: tableReadsFor(sources, []), request: all, limit, window: query.bounds },
      handle,
    )
  }
  for (let first = 0; first < large.length; first += LARGE_AT_ONCE) {
    await readLarge(store, queryRun, { ...query, sources: large.slice(first, first + LARGE_AT_ONCE) }, request, handle)
  }
  return costOf(queryRun, 1)
}

/** Counts the events of each source within the bounds, by the stored counts of minutes. */
async function countsOf(store: EventStore, queryRun: QueryRun, { sources, bounds }: EventQuery): Promise<ReadonlyMap<string, number>> {
  const reads = tableReadsFor(sources, []).flatMap((tableRead) => {
    const table = name(tableRead.table)
    return countScopes(tableRead, bounds, { slices: 1, columns: [] }).map(({ scope, ...of }) => ({
      of,
      select: sql`select toString(log_id), toUInt64(count()) from ${table} where ${scope} group by log_id`,
    }))
  })
  const counts = new Map<string, number>()
  // These events are read again, so they must not count twice.
  const statements = countStatements(reads, areResultsKept(store, queryRun))
  for (const rows of await runAtOnce(store, { ...queryRun }, statements)) {
    while (rows.next()) {
      const logId = rows.text()
      counts.set(logId, (counts.get(logId) ?? 0) + Number(rows.uint64()))
    }
  }
  return counts
}

/** Groups sources that have up to SMALL_EVENTS events together. */
function packSources(sources: readonly QuerySource[], countOf: (source: QuerySource) => number): QuerySource[][] {
  const parts: QuerySource[][] = []
  let sum = Number.POSITIVE_INFINITY
  for (const source of sources) {
    sum += countOf(source)
    if (sum > SMALL_EVENTS) {
      parts.push([])
      sum = countOf(source)
    }
    parts.at(-1)?.push(source)
  }
  return parts
}

type WindowRead = {
  sources: readonly QuerySource[]
  tableReads: ReturnType<typeof tableReadsFor>
  request: EventsRequest
  limit: number
  window: TimeBounds
}

async function readWindow(
  store: EventStore,
  queryRun: QueryRun,
  { sources, tableReads, request, limit, window }: WindowRead,
  handle: NewestEventsHandler,
): Promise<void> {
  const plan = eventsPerTable(tableReads, { filter: { kind: 'all' } }, request, window)
  const found = plan ? await eventsOf(store, queryRun, plan, request) : []
  const byLog = Map.groupBy(found, ({ logId }) => logId)
  for (const { logId } of sources) handle(logId, (byLog.get(logId) ?? []).sort(newestFirst).slice(0, limit))
}

/**
 * Reads windows backward in time, for the datasets that have too few events so far. A dataset whose events lie in several tables is read
 * from each.
 */
async function readLarge(
  store: EventStore,
  queryRun: QueryRun,
  query: EventQuery,
  request: EventsRequest,
  handle: NewestEventsHandler,
): Promise<void> {
  const found = new Map<string, FoundEvent[]>(query.sources.map(({ logId }) => [logId, []]))
  for (const window of windowsOf(withinRetention(query), { newestFirst: true, fewer: true, inPeriodsOf: query.sources })) {
    const sources = query.sources.filter(({ logId }) => (found.get(logId)?.length ?? 0) < request.limit)
    const tableReads = sources.flatMap((source) => tableReadsFor([source], []))
    await readWindow(store, queryRun, { sources, tableReads, request, limit: request.limit, window }, (logId, events) =>
      found.get(logId)?.push(...events),
    )
  }
  for (const [logId, events] of found) handle(logId, events.sort(newestFirst).slice(0, request.limit))
}

const newestFirst = (a: FoundEvent, b: FoundEvent): number =>
  a.timeNs === b.timeNs ? (a.seq < b.seq ? 1 : -1) : a.timeNs < b.timeNs ? 1 : -1
