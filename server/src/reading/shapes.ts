import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import type { QueryBranch } from './branches.ts'
import type { TimeBounds } from './event-query.ts'
import { scopeOf } from './events-statement.ts'
import { type QueryRun, run } from './run.ts'
import { digits, name, sql } from './statement.ts'

/** How many shapes are handled one by one. Most datasets have a handful. */
const SHAPES_MAX = 200
const SHAPES_CHARS_MAX = 65_536

/** Reads the shapes of each branch when the query needs the line. */
export async function withShapes(
  store: EventStore,
  queryRun: QueryRun,
  branches: readonly QueryBranch[],
  { keys, bounds }: { keys: readonly string[]; bounds: TimeBounds },
): Promise<readonly QueryBranch[]> {
  if (!keys.includes('@raw')) return branches
  return Promise.all(
    branches.map(async (branch) => {
      const shapes = await shapesOf(store, queryRun, branch, bounds)
      const areFew = shapes.length <= SHAPES_MAX && shapes.reduce((sum, { length }) => sum + length, 0) <= SHAPES_CHARS_MAX
      return areFew ? { ...branch, shapes } : branch
    }),
  )
}

/** Returns the shapes of a branch, at most one more than are handled one by one. */
async function shapesOf(store: EventStore, queryRun: QueryRun, branch: QueryBranch, bounds: TimeBounds): Promise<string[]> {
  const table = name(tableClasses[branch.tableClass].table)
  const grouped = sql`select shape from ${table} where ${scopeOf(branch, bounds)} group by shape limit ${digits(SHAPES_MAX + 1)}`
  const rows = await run(store, queryRun, sql`select toString(shape) from (${grouped})`)
  const shapes: string[] = []
  while (!rows.atEnd) shapes.push(rows.text())
  return shapes
}
