import type { EventStore } from '../events/events.ts'
import { shapeReferences } from '../events/shred/shape.ts'
import { tableClasses } from '../events/table.ts'
import type { Branch } from './branches.ts'
import { scopeOf } from './events-statement.ts'
import type { Bounds } from './question.ts'
import type { Beside } from './raw-line.ts'
import { type Asking, run } from './run.ts'
import { digits, name, type Sql, sql, TRUE } from './statement.ts'

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
      const shapes = await shapesOf(store, asking, branch, { bounds, met: TRUE, most: SHAPES_MAX + 1 })
      const areFew = shapes.length <= SHAPES_MAX && shapes.reduce((sum, { length }) => sum + length, 0) <= SHAPES_CHARS_MAX
      if (areFew) return { ...branch, shapes, beside: shapes.flatMap(besideOf) }
      const withMore = await shapesOf(store, asking, branch, { bounds, met: sql`position(shape, '\\x01m\\x02') > 0` })
      return { ...branch, beside: withMore.flatMap(besideOf) }
    }),
  )
}

type Sought = { bounds: Bounds; met: Sql; most?: number }

async function shapesOf(store: EventStore, asking: Asking, branch: Branch, { bounds, met, most }: Sought): Promise<string[]> {
  const table = name(tableClasses[branch.tableClass].table)
  const limit = most === undefined ? sql`` : sql`limit ${digits(most)}`
  const grouped = sql`select shape from ${table} where ${scopeOf(branch, bounds)} and ${met} group by shape ${limit}`
  const rows = await run(store, asking, sql`select toString(shape) from (${grouped})`)
  const shapes: string[] = []
  while (!rows.atEnd) shapes.push(rows.text())
  return shapes
}

/** besideOf are the keys that lie beside the columns in a shape of JSON, which has no names for them that the store could read. */
function besideOf(shape: string): Beside[] {
  if (!shape.includes('\x01m\x02')) return []
  return [{ shape, paths: shapeReferences(shape).places.flatMap(({ path, reference }) => (reference.kind === 'more' ? [path] : [])) }]
}
