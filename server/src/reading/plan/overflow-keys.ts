import type { EventStore } from '../../events/store/events.ts'
import { isBuiltInKey, pathsOf } from '../fields/field-locations.ts'
import { hasOverflowKey, OVERFLOW_NAMES, overflowGranules } from '../fields/overflow-entries.ts'
import type { TableFacts, TimeBounds } from '../query.ts'
import { type QueryRun, run } from '../run/run.ts'
import { and, joined, name, or, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { granulesOf } from './read-scope.ts'
import type { TableRead } from './table-reads.ts'

type QueriedKeys = { readonly keys: readonly string[]; readonly bounds: TimeBounds }

/**
 * Determines which of the queried keys occur in the overflow map of any event. Reading the map of every event, for keys that never occur
 * there, takes several times as long as the rest of a query. Finding out is cheap with the index `strays`. Values that enter the map later
 * belong to events that arrived after the query. For one key, the first event with any of its paths there counts for all of them: otherwise finding out
 * would take as long as reading the key, where most events have it in their map.
 */
export async function findOverflowKeys(
  store: EventStore,
  queryRun: QueryRun,
  tableReads: readonly TableRead[],
  { keys, bounds }: QueriedKeys,
): Promise<readonly Pick<TableFacts, 'overflowKeys'>[]> {
  const paths = queriedPaths(keys)
  if (paths.length === 0) return tableReads.map(() => ({ overflowKeys: new Set() }))
  const find = new Set(keys.filter(isStored)).size === 1 ? readAnyOverflow : readOverflowKeys
  return Promise.all(
    tableReads.map(async (tableRead) => ({ overflowKeys: new Set(await find(store, queryRun, tableRead, { keys: paths, bounds })) })),
  )
}

/** The paths whose values may be in the overflow map. */
export const queriedPaths = (keys: readonly string[]): readonly string[] => [...new Set(keys.filter(isStored).flatMap(pathsOf))]

const isStored = (key: string): boolean => !isBuiltInKey(key)

/** How many keys are looked for one by one. Comparing the numbers of names takes less time than comparing names, but once for each key. */
const PATHS_FEW = 12

async function readOverflowKeys(
  store: EventStore,
  queryRun: QueryRun,
  tableRead: TableRead,
  { keys, bounds }: QueriedKeys,
): Promise<string[]> {
  const isFew = keys.length <= PATHS_FEW
  const paths = param.texts(keys)
  const found = isFew
    ? sql`arrayFilter((path, isThere) -> isThere > 0, ${paths}, [${joined(keys.map((path) => sql`max(${hasOverflowKey(path)})`))}])`
    : sql`groupUniqArrayArray(arrayFilter(path -> has(${paths}, path), arrayMap(path -> toString(path), ${OVERFLOW_NAMES})))`
  const from = eventsWith(keys, tableRead, bounds, isFew ? TRUE : sql`hasAny(${OVERFLOW_NAMES}, ${paths})`)
  // These are the events of the query, so they must not count twice.
  const rows = await run(store, { ...queryRun, rows: 0 }, sql`select ${found} ${from}`)
  return rows.next() ? rows.texts() : []
}

/** Returns all keys when any of them is in an overflow map. */
async function readAnyOverflow(
  store: EventStore,
  queryRun: QueryRun,
  tableRead: TableRead,
  { keys, bounds }: QueriedKeys,
): Promise<readonly string[]> {
  const from = eventsWith(keys, tableRead, bounds, or(keys.map(hasOverflowKey)))
  const rows = await run(store, { ...queryRun, rows: 0 }, sql`select 1 ${from} limit 1`)
  return rows.next() ? keys : []
}

const eventsWith = (keys: readonly string[], tableRead: TableRead, bounds: TimeBounds, condition: SqlFragment): SqlFragment =>
  sql`from ${name(tableRead.table)} where ${and([granulesOf(tableRead, bounds), overflowGranules(keys), condition])}`
