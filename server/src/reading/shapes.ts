import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import type { QueryBranch } from './branches.ts'
import type { TimeBounds } from './event-query.ts'
import { granulesOf, hasParts } from './events-statement.ts'
import { minutesAround } from './minute-counts.ts'
import { IS_IN_PARTS } from './raw-line.ts'
import { type QueryRun, run } from './run.ts'
import { and, digits, name, type SqlFragment, sql } from './statement.ts'

/** How many shapes are handled one by one. Most datasets have a handful. */
const SHAPES_MAX = 200
const SHAPES_CHARS_MAX = 65_536

/** Reads the shapes of each branch, and the parts of lines with open maps, when the query needs the line. */
export async function withShapes(
  store: EventStore,
  queryRun: QueryRun,
  branches: readonly QueryBranch[],
  { keys, bounds }: { keys: readonly string[]; bounds: TimeBounds },
): Promise<readonly QueryBranch[]> {
  if (!keys.includes('@raw')) return branches
  const read = async (statement: SqlFragment, own = queryRun): Promise<string[]> => {
    const rows = await run(store, own, statement)
    const texts: string[] = []
    while (!rows.atEnd) texts.push(rows.text())
    return texts
  }
  return Promise.all(
    branches.map(async (branch) => {
      const shapes = few(await read(shapesSql(branch, bounds)))
      const shaped = shapes ? { ...branch, shapes } : branch
      // These are the events of the query, so they must not count twice.
      const parts = hasParts(shaped) ? few(await read(partsSql(shaped, bounds), { ...queryRun, rows: 0 })) : undefined
      return parts ? { ...shaped, parts } : shaped
    }),
  )
}

/** The texts, if they are few enough to be handled one by one. */
const few = (texts: readonly string[]): readonly string[] | undefined =>
  texts.length <= SHAPES_MAX && texts.reduce((sum, { length }) => sum + length, 0) <= SHAPES_CHARS_MAX ? texts : undefined

/** At most one shape more than are handled one by one. Shapes are stored by minute. */
const shapesSql = (branch: QueryBranch, bounds: TimeBounds): SqlFragment =>
  sql`select toString(shape) from (select shape from ${tableOf(branch)} where ${minutesAround(branch, bounds)} group by shape limit ${digits(SHAPES_MAX + 1)})`

/** Parts are numbers in the store until they are returned, so distinct ones take it a fifth of the time of an aggregate of their texts. */
const partsSql = (branch: QueryBranch, bounds: TimeBounds): SqlFragment =>
  sql`select toString(part) from (select distinct arrayJoin(parts) as part from ${tableOf(branch)}
    where ${and([granulesOf(branch, bounds), IS_IN_PARTS])} limit ${digits(SHAPES_MAX + 1)})`

const tableOf = ({ tableClass }: QueryBranch): SqlFragment => name(tableClasses[tableClass].table)
