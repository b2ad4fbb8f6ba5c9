import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import type { Branch } from './branches.ts'
import { scopeOf } from './events-statement.ts'
import type { Bounds } from './question.ts'
import { type Asking, run } from './run.ts'
import { digits, name, sql } from './statement.ts'

/** SHAPES_MAX and SHAPES_CHARS_MAX are how many shapes are looked at one by one; most datasets have a handful. */
const SHAPES_MAX = 200
const SHAPES_CHARS_MAX = 65_536

/** withShapes finds out, when the question names the line, of which shapes the lines of a branch are. */
export async function withShapes(
  store: EventStore,
  asking: Asking,
  branches: readonly Branch[],
  { keys, bounds }: { keys: readonly string[]; bounds: Bounds },
): Promise<readonly Branch[]> {
  if (!keys.includes('@raw')) return branches
  return Promise.all(
    branches.map(async (branch) => {
      const shapes = await shapesOf(store, asking, branch, bounds)
      const areFew = shapes.length <= SHAPES_MAX && shapes.reduce((sum, { length }) => sum + length, 0) <= SHAPES_CHARS_MAX
      return areFew ? { ...branch, shapes } : branch
    }),
  )
}

/** shapesOf are the shapes of a branch, or one more than are looked at one by one. */
async function shapesOf(store: EventStore, asking: Asking, branch: Branch, bounds: Bounds): Promise<string[]> {
  const table = name(tableClasses[branch.tableClass].table)
  const grouped = sql`select shape from ${table} where ${scopeOf(branch, bounds)} group by shape limit ${digits(SHAPES_MAX + 1)}`
  const rows = await run(store, asking, sql`select toString(shape) from (${grouped})`)
  const shapes: string[] = []
  while (!rows.atEnd) shapes.push(rows.text())
  return shapes
}
