import type { EventStore } from '../events/store/events.ts'
import { tableClasses } from '../lines/table.ts'
import type { QueryBranch } from './branches.ts'
import type { TimeBounds } from './event-query.ts'
import { granulesOf, hasParts } from './events-statement.ts'
import { minutesAround } from './minute-counts.ts'
import { OVERFLOW_NAMES } from './overflow-entries.ts'
import { fitsText } from './plain-lines.ts'
import { IS_IN_PARTS } from './raw-line.ts'
import { type QueryRun, run } from './run.ts'
import { and, digits, joined, name, type SqlFragment, sql } from './statement.ts'

/** How many shapes are handled one by one. Most datasets have a handful. */
const SHAPES_MAX = 200
const SHAPES_CHARS_MAX = 65_536

/** Reads the shapes of each branch, and the parts of lines with open maps, when the query needs the line. */
export async function withShapes(
  store: EventStore,
  queryRun: QueryRun,
  branches: readonly QueryBranch[],
  { keys, bounds, texts = [] }: { keys: readonly string[]; bounds: TimeBounds; texts?: readonly string[] },
): Promise<readonly QueryBranch[]> {
  if (!keys.includes('@raw')) return branches
  const read = async (statement: SqlFragment, own = queryRun): Promise<string[]> => {
    const rows = await run(store, own, statement)
    const found: string[] = []
    while (!rows.atEnd) found.push(rows.text())
    return found
  }
  return Promise.all(
    branches.map(async (branch) => {
      const shapes = few(await read(shapesSql(branch, bounds)))
      const shaped = shapes ? { ...branch, shapes } : branch
      if (!hasParts(shaped)) return shaped
      const [parts, notInNames] = await Promise.all([partsOf(shaped), missingInNames(shaped)])
      return { ...shaped, ...(parts ? { parts } : {}), notInNames }
    }),
  )

  // These are the events of the query, so they must not count twice.
  async function partsOf(branch: QueryBranch): Promise<readonly string[] | undefined> {
    return few(await read(partsSql(branch, bounds), { ...queryRun, rows: 0 }))
  }

  async function missingInNames(branch: QueryBranch): Promise<readonly string[]> {
    const searched = texts.filter((text) => !text.includes('\0'))
    if (searched.length === 0) return []
    const rows = await run(store, { ...queryRun, rows: 0 }, namesSql(branch, bounds, searched))
    return searched.filter(() => rows.uint8() === 0)
  }
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

/** Whether any name of an overflow entry contains each of the texts. Asking for every event takes three times as long. */
function namesSql(branch: QueryBranch, bounds: TimeBounds, texts: readonly string[]): SqlFragment {
  const found = texts.map((text) => sql`toUInt8(max(${fitsText(text)(sql`name`)}))`)
  return sql`select ${joined(found)} from (select arrayJoin(${OVERFLOW_NAMES}) as name from ${tableOf(branch)}
    where ${and([granulesOf(branch, bounds), IS_IN_PARTS])})`
}

const tableOf = ({ tableClass }: QueryBranch): SqlFragment => name(tableClasses[tableClass].table)
