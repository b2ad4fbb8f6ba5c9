import type { EventStore } from '../../events/store/events.ts'
import { DISTINCT_PARTS } from '../../lines/table.ts'
import { granulesOf, hasParts } from '../events/events-statement.ts'
import type { TimeBounds } from '../query.ts'
import { type QueryRun, run } from '../run/run.ts'
import { and, constant, digits, joined, name, param, type SqlFragment, sql } from '../sql/sql.ts'
import { minutesAround } from '../statistics/minute-rollup.ts'
import { fitsText } from '../text-search/in-values.ts'
import { IS_IN_PARTS } from '../text-search/rebuild-line.ts'
import { OVERFLOW_NAMES } from './overflow-entries.ts'
import type { QueryBranch } from './table-reads.ts'

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
    while (rows.next()) found.push(rows.text())
    return found
  }
  return Promise.all(
    branches.map(async (branch) => {
      // Where maps are known to be open, the first parts are read at the same time.
      const [found, first] = await Promise.all([read(shapesSql(branch, bounds)), hasParts(branch) ? firstPartsOf(branch) : undefined])
      const shapes = few(found)
      const shaped = shapes ? { ...branch, shapes } : branch
      if (!hasParts(shaped)) return shaped
      const [parts, notInNames] = await Promise.all([partsOf(shaped, first ?? (await firstPartsOf(shaped))), missingInNames(shaped)])
      return { ...shaped, ...(parts ? { parts } : {}), notInNames }
    }),
  )

  // These are the events of the query, so they must not count twice.
  async function firstPartsOf(branch: QueryBranch): Promise<readonly string[]> {
    return read(firstPartsSql(branch, bounds), { ...queryRun, rows: 0 })
  }

  /** The first parts and those of all granules that may have others. */
  async function partsOf(branch: QueryBranch, first: readonly string[]): Promise<readonly string[] | undefined> {
    if (first.length === 0 || !few(first)) return few(first)
    const others = await read(otherPartsSql(branch, bounds, first), { ...queryRun, rows: 0 })
    return few([...new Set([...first, ...others])])
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

/** How many events show the first parts. Most lines of a dataset have the same. */
const FIRST_EVENTS = 1_000
const PARTS_OF_GRANULE: SqlFragment = constant(DISTINCT_PARTS)

/** The parts of some events, of which granules without parts have none. */
const firstPartsSql = (branch: QueryBranch, bounds: TimeBounds): SqlFragment =>
  sql`select toString(part) from (select distinct arrayJoin(parts) as part from (select parts from ${tableOf(branch)}
    where ${and([granulesOf(branch, bounds), IS_IN_PARTS, sql`indexHint(notEmpty(${PARTS_OF_GRANULE}))`])} limit ${digits(FIRST_EVENTS)})
    limit ${digits(SHAPES_MAX + 1)})`

/**
 * All parts of the granules that may have others than the known ones, which the index `distinct_parts` tells. Parts are numbers in the store until they
 * are returned, so distinct ones take it a fifth of the time of an aggregate of their texts.
 */
const otherPartsSql = (branch: QueryBranch, bounds: TimeBounds, known: readonly string[]): SqlFragment =>
  sql`select toString(part) from (select distinct arrayJoin(parts) as part from ${tableOf(branch)}
    where ${and([granulesOf(branch, bounds), IS_IN_PARTS, sql`indexHint(not hasAll(${param.texts(known)}, ${PARTS_OF_GRANULE}))`])}
    limit ${digits(SHAPES_MAX + 1)})`

/** Whether any name of an overflow entry contains each of the texts. Asking for every event takes three times as long. */
function namesSql(branch: QueryBranch, bounds: TimeBounds, texts: readonly string[]): SqlFragment {
  const found = texts.map((text) => sql`toUInt8(max(${fitsText(text)(sql`name`)}))`)
  return sql`select ${joined(found)} from (select arrayJoin(${OVERFLOW_NAMES}) as name from ${tableOf(branch)}
    where ${and([granulesOf(branch, bounds), IS_IN_PARTS])})`
}

const tableOf = ({ table }: QueryBranch): SqlFragment => name(table)
