import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import type { QueryBranch } from './branches.ts'
import type { TimeBounds } from './event-query.ts'
import { granulesOf } from './events-statement.ts'
import { pathsOf } from './key-locations.ts'
import { type QueryRun, run } from './run.ts'
import { name, param, sql } from './statement.ts'

type QueriedKeys = { readonly keys: readonly string[]; readonly bounds: TimeBounds }

/**
 * Determines which of the queried keys occur in the overflow map of any event. Reading the map of every event, for keys that never occur
 * there, takes several times as long as the rest of a query. Finding out is cheap with the index `strays`. Values that enter the map later
 * belong to events that arrived after the query.
 */
export async function withOverflowKeys(
  store: EventStore,
  queryRun: QueryRun,
  branches: readonly QueryBranch[],
  { keys, bounds }: QueriedKeys,
): Promise<readonly QueryBranch[]> {
  const paths = queriedPaths(keys)
  if (paths.length === 0) return branches
  return Promise.all(
    branches.map(async (branch) => {
      const overflowKeys = new Set(await readOverflowKeys(store, queryRun, branch, { keys: paths, bounds }))
      return { ...branch, slots: { ...branch.slots, mayOverflow: (path: string) => overflowKeys.has(path) } }
    }),
  )
}

/** The paths whose values may be in the overflow map. */
export const queriedPaths = (keys: readonly string[]): readonly string[] => [
  ...new Set(keys.filter((key) => !key.startsWith('@')).flatMap(pathsOf)),
]

async function readOverflowKeys(
  store: EventStore,
  queryRun: QueryRun,
  branch: QueryBranch,
  { keys, bounds }: QueriedKeys,
): Promise<string[]> {
  const paths = param.texts(keys)
  const overflowKeys = sql`arrayFilter(path -> has(${paths}, path), arrayMap(path -> toString(path), mapKeys(more)))`
  const rows = await run(
    store,
    // These are the events of the query, so they must not count twice.
    { ...queryRun, rows: 0 },
    sql`select groupUniqArrayArray(${overflowKeys}) from ${name(tableClasses[branch.tableClass].table)}
      where ${granulesOf(branch, bounds)} and length(more) > 0 and hasAny(mapKeys(more), ${paths})`,
  )
  return rows.atEnd ? [] : rows.texts()
}
