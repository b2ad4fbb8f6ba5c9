import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import { branchesOf, type QueryBranch } from './branches.ts'
import type { EventQuery, FoundEvent, PresentPattern, PresentPatterns } from './event-query.ts'
import { scopeOf } from './events-statement.ts'
import { readScope } from './kept-results.ts'
import { type QueryRun, run, startQueryRun } from './run.ts'
import { joined, name, sql } from './statement.ts'

/** The maximum number of patterns that one query compares. */
const PATTERNS_MAX = 1_000_000

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

/** The same for branches. Reading one window at a time, a query finds the patterns of no more than it reads. */
export async function branchesInFamilies(
  store: EventStore,
  queryRun: QueryRun,
  query: EventQuery,
  branches: readonly QueryBranch[],
  keys: readonly string[],
): Promise<readonly QueryBranch[]> {
  const { sources } = await withFamilies(store, queryRun, query, keys)
  if (sources === query.sources) return branches
  const families = new Map(sources.map((source) => [source.logId, source.families]))
  return branches.map((branch) => ({
    ...branch,
    sources: branch.sources.map((source) => {
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
  const found = new Map<string, Map<bigint, PresentPattern>>()
  for (const { logId, skeleton, seq } of events) {
    if (skeleton === 0n) continue
    const own = found.get(logId) ?? new Map<bigint, PresentPattern>()
    const known = own.get(skeleton)
    own.set(skeleton, { count: (known?.count ?? 0) + 1, seq: known && known.seq > seq ? known.seq : seq })
    found.set(logId, own)
  }
  const families = await query.families.of(store, query, found)
  return events.map((event) => {
    const family = families.get(event.logId)?.get(event.skeleton)
    return family === undefined ? event : { ...event, family }
  })
}

/** Counts the events of each pattern in the range of a query, by dataset. The filter is ignored. */
async function presentPatterns(store: EventStore, queryRun: QueryRun, query: EventQuery): Promise<PresentPatterns> {
  const parts = branchesOf(query.sources, []).map(
    (branch) => sql`
      select toString(log_id) as log, skeleton, count() as number, max(seq) as newest from ${name(tableClasses[branch.tableClass].table)}
      where ${scopeOf(branch, query.bounds)} and skeleton != 0 group by log_id, skeleton`,
  )
  const found = new Map<string, Map<bigint, PresentPattern>>()
  if (parts.length === 0) return found
  const rows = await run(store, queryRun, sql`select log, skeleton, toUInt64(number), newest from (${joined(parts, ' union all ')})`, {
    groupsMax: PATTERNS_MAX,
    groups: ['@pattern'],
  })
  while (!rows.atEnd) {
    const [log, skeleton, count, seq] = [rows.text(), rows.uint64(), Number(rows.uint64()), rows.uint64()]
    const own = found.get(log) ?? new Map<bigint, PresentPattern>()
    const known = own.get(skeleton)
    own.set(skeleton, { count: (known?.count ?? 0) + count, seq: known && known.seq > seq ? known.seq : seq })
    found.set(log, own)
  }
  return found
}
