import type { EventStore } from '../../events/store/events.ts'
import type { EventQuery, FoundEvent, PresentPattern, PresentPatterns, QueryCost } from '../query.ts'
import { costOf, type QueryRun, startQueryRun } from '../run/run.ts'
import { readScope } from '../run/statement-results.ts'
import { byPattern, presentPatterns } from './pattern-counts.ts'
import type { TableRead } from './table-reads.ts'

/**
 * Adds the families of all patterns in the range of a query to its sources, if the query reads `@pattern`. Patterns that arrived since the
 * last such query get their families now, so that every result is exact.
 */
export async function withFamilies(store: EventStore, queryRun: QueryRun, query: EventQuery, keys: readonly string[]): Promise<EventQuery> {
  if (!query.families || !keys.includes('@pattern')) return query
  const whole = query.patternBounds ? { ...query, bounds: query.patternBounds } : query
  const { sources } = await inFamilies(store, whole, await presentPatterns(store, { ...queryRun, scope: readScope(whole) }, whole))
  return { ...query, sources }
}

/** The same for tables. Reading one window at a time, a query finds the patterns of no more than it reads. */
export async function tablesInFamilies(
  store: EventStore,
  queryRun: QueryRun,
  query: EventQuery,
  tableReads: readonly TableRead[],
  keys: readonly string[],
): Promise<readonly TableRead[]> {
  const { sources } = await withFamilies(store, queryRun, query, keys)
  if (sources === query.sources) return tableReads
  const families = new Map(sources.map((source) => [source.logId, source.families]))
  return tableReads.map((tableRead) => ({
    ...tableRead,
    sources: tableRead.sources.map((source) => {
      const own = families.get(source.logId)
      return own ? { ...source, families: own } : source
    }),
  }))
}

/** The same when the patterns in the range are known. */
async function inFamilies(store: EventStore, query: EventQuery, found: PresentPatterns): Promise<EventQuery> {
  if (!query.families) return query
  const families = await query.families.of(store, query, found)
  return {
    ...query,
    sources: query.sources.map((source) => {
      const own = families.get(source.logId)
      return own && own.size > 0 ? { ...source, families: own } : source
    }),
  }
}

/** A family, or a pattern without one: its events, and the sequence number of the newest. */
export type FamilyCount = PresentPattern & { readonly logId: string; readonly family: bigint }

/** Counts the events of each family in the range of a query. The filter is ignored. */
export async function countFamilies(store: EventStore, query: EventQuery): Promise<{ families: readonly FamilyCount[]; cost: QueryCost }> {
  const queryRun = startQueryRun(query)
  const present = await presentPatterns(store, queryRun, query)
  const { sources } = await inFamilies(store, query, present)
  const counted = sources.flatMap(({ logId, families: own }) =>
    [...(present.get(logId) ?? [])].map(([pattern, found]) => ({ ...found, log: logId, pattern: own?.get(pattern) ?? pattern })),
  )
  const families = [...byPattern(counted)].flatMap(([logId, found]) => [...found].map(([family, count]) => ({ ...count, logId, family })))
  return { families, cost: costOf(queryRun, 1) }
}

/**
 * The same families for several queries on the same sources. What one of them meets is decided before any is read, so a pattern cannot
 * belong to a family in one and stand for itself in another.
 */
export async function inSameFamilies(store: EventStore, ...queries: readonly EventQuery[]): Promise<EventQuery[]> {
  const [first] = queries
  if (!first?.families) return [...queries]
  const fromMs = Math.min(...queries.map(({ bounds }) => bounds.fromMs))
  const toMs = Math.max(...queries.map(({ bounds }) => bounds.toMs))
  const whole = { ...first, bounds: { fromMs, toMs } }
  const { sources } = await inFamilies(store, whole, await presentPatterns(store, startQueryRun(whole), whole))
  return queries.map(({ families: _, ...query }) => ({ ...query, sources }))
}

/** Adds its family to each event. */
export async function eventsInFamilies(store: EventStore, query: EventQuery, events: readonly FoundEvent[]): Promise<FoundEvent[]> {
  if (!query.families || events.length === 0) return [...events]
  const withPattern = events.filter(({ skeleton }) => skeleton !== 0n)
  const found = byPattern(withPattern.map(({ logId, skeleton, seq }) => ({ log: logId, pattern: skeleton, count: 1, seq })))
  const families = await query.families.of(store, query, found)
  return events.map((event) => {
    const family = families.get(event.logId)?.get(event.skeleton)
    return family === undefined ? event : { ...event, family }
  })
}
