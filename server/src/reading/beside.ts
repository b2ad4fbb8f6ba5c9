import type { EventStore } from '../events/events.ts'
import { shapeReferences } from '../events/shred/shape.ts'
import { tableClasses } from '../events/table.ts'
import type { Branch } from './branches.ts'
import { scopeOf } from './events-statement.ts'
import type { Bounds } from './question.ts'
import type { Beside } from './raw-line.ts'
import { type Asking, run } from './run.ts'
import { name, sql } from './statement.ts'

/** withBeside finds out, when the question names the line, which shapes of a branch have keys beside the columns; few datasets have any. */
export async function withBeside(
  store: EventStore,
  asking: Asking,
  branches: readonly Branch[],
  { keys, bounds }: { keys: readonly string[]; bounds: Bounds },
): Promise<readonly Branch[]> {
  if (!keys.includes('@raw')) return branches
  return Promise.all(branches.map(async (branch) => ({ ...branch, beside: await besideOf(store, asking, branch, bounds) })))
}

async function besideOf(store: EventStore, asking: Asking, branch: Branch, bounds: Bounds): Promise<readonly Beside[]> {
  const table = name(tableClasses[branch.tableClass].table)
  const rows = await run(
    store,
    asking,
    sql`select distinct toString(shape) from ${table} where ${scopeOf(branch, bounds)} and position(shape, '\\x01m\\x02') > 0`,
  )
  const shapes: Beside[] = []
  while (!rows.atEnd) {
    const shape = rows.text()
    const paths = shapeReferences(shape).places.flatMap(({ path, reference }) => (reference.kind === 'more' ? [path] : []))
    shapes.push({ shape, paths })
  }
  return shapes
}
