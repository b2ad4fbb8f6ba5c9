import type { EventStore } from '../../events/store/events.ts'
import { DISTINCT_PARTS } from '../../lines/layout/table.ts'
import { OVERFLOW_NAMES } from '../fields/overflow-entries.ts'
import type { EventVolume, TableFacts, TimeBounds } from '../query.ts'
import { type QueryRun, run } from '../run/run.ts'
import { and, constant, digits, joined, name, param, type SqlFragment, sql } from '../sql/sql.ts'
import { isJson } from '../text-search/across-values.ts'
import { fitsText } from '../text-search/in-values.ts'
import { IS_IN_PARTS, IS_JSON } from '../text-search/rebuild-line.ts'
import { granulesOf, MINUTE, minutesAround } from './read-scope.ts'
import { hasParts } from './table-read.ts'
import type { TableRead } from './table-reads.ts'

/** How many shapes are handled one by one. Most datasets have a handful. */
const SHAPES_MAX = 200
const SHAPES_CHARS_MAX = 524_288
const MINUTE_MS = 60_000
/** The resolution of the range of times that a volume has. */
const STEP_MS = 10 * MINUTE_MS

/** Reads the shapes of the lines of each table, and the parts of lines with open maps. */
export async function findLineFacts(
  store: EventStore,
  queryRun: QueryRun,
  tableReads: readonly TableRead[],
  { bounds, texts = [] }: { bounds: TimeBounds; texts?: readonly string[] },
): Promise<readonly TableFacts[]> {
  const read = async (statement: SqlFragment, own = queryRun): Promise<string[]> => {
    const rows = await run(store, own, statement)
    const found: string[] = []
    while (rows.next()) found.push(rows.text())
    return found
  }
  const readShapes = async (tableRead: TableRead): Promise<{ found: readonly string[]; volume: EventVolume }> => {
    const rows = await run(store, queryRun, shapesSql(tableRead, bounds))
    const found: string[] = []
    const steps: number[] = []
    let events = 0
    while (rows.next()) {
      found.push(rows.text())
      events += Number(rows.uint64())
      steps.push(Number(rows.uint64()), Number(rows.uint64()) + 1)
    }
    return { found, volume: { events, bounds: { fromMs: Math.min(...steps) * STEP_MS, toMs: Math.max(...steps) * STEP_MS } } }
  }
  return Promise.all(
    tableReads.map(async (tableRead) => {
      // Where maps are known to be open, the first parts are read at the same time.
      const [{ found, volume }, first] = await Promise.all([
        readShapes(tableRead),
        hasParts(tableRead) ? firstPartsOf(tableRead) : undefined,
      ])
      const shapes = few(found)
      const textShapes = shapes ? undefined : textShapesOf(found)
      const shaped = shapes ? { ...tableRead, shapes } : tableRead
      const facts = { ...(shapes ? { shapes } : {}), ...(textShapes ? { textShapes } : {}), ...(volume.events > 0 ? { volume } : {}) }
      if (!hasParts(shaped)) return facts
      const [parts, absentFromKeys] = await Promise.all([partsOf(shaped, first ?? (await firstPartsOf(shaped))), missingInNames(shaped)])
      return { ...facts, ...(parts ? { parts } : {}), absentFromKeys }
    }),
  )

  // These are the events of the query, so they must not count twice.
  async function firstPartsOf(tableRead: TableRead): Promise<readonly string[]> {
    return read(firstPartsSql(tableRead, bounds), { ...queryRun, rows: 0 })
  }

  /** The first parts and those of all granules that may have others. */
  async function partsOf(tableRead: TableRead, first: readonly string[]): Promise<readonly string[] | undefined> {
    if (first.length === 0 || !few(first)) return few(first)
    const others = await read(otherPartsSql(tableRead, bounds, first), { ...queryRun, rows: 0 })
    return few([...new Set([...first, ...others])])
  }

  async function missingInNames(tableRead: TableRead): Promise<readonly string[]> {
    const searched = texts.filter((text) => !text.includes('\0'))
    if (searched.length === 0) return []
    const rows = await run(store, { ...queryRun, rows: 0 }, namesSql(tableRead, bounds, searched))
    return searched.filter(() => rows.uint8() === 0)
  }
}

/** The texts, if they are few enough to be handled one by one. */
const few = (texts: readonly string[]): readonly string[] | undefined =>
  texts.length <= SHAPES_MAX && texts.reduce((sum, { length }) => sum + length, 0) <= SHAPES_CHARS_MAX ? texts : undefined

/** Those that are not JSON come first, so that they are all there if any other shape is. */
function textShapesOf(found: readonly string[]): readonly string[] | undefined {
  const text = found.filter((shape) => !isJson(shape))
  return text.length < found.length ? few(text) : undefined
}

/** At most one shape more than are handled one by one, how many events have each, and the first and last step of their times. Shapes are stored by minute. */
const shapesSql = (tableRead: TableRead, bounds: TimeBounds): SqlFragment =>
  sql`select toString(shape), toUInt64(sum(events)), toUInt64(min(step)), toUInt64(max(step)) from (select shape, intDiv(${MINUTE}, ${digits(STEP_MS / MINUTE_MS)}) as step,
    count() as events from ${tableOf(tableRead)} where ${minutesAround(tableRead, bounds)} group by shape, step) group by shape order by ${IS_JSON} limit ${digits(SHAPES_MAX + 1)}`

/** How many events show the first parts. Most lines of a dataset have the same. */
const FIRST_EVENTS = 1_000
const PARTS_OF_GRANULE: SqlFragment = constant(DISTINCT_PARTS)

/** The parts of some events, of which granules without parts have none. */
const firstPartsSql = (tableRead: TableRead, bounds: TimeBounds): SqlFragment =>
  sql`select toString(part) from (select distinct arrayJoin(parts) as part from (select parts from ${tableOf(tableRead)}
    where ${and([granulesOf(tableRead, bounds), IS_IN_PARTS, sql`indexHint(notEmpty(${PARTS_OF_GRANULE}))`])} limit ${digits(FIRST_EVENTS)})
    limit ${digits(SHAPES_MAX + 1)})`

/**
 * All parts of the granules that may have others than the known ones, which the index `distinct_parts` tells. Parts are numbers in the store until they
 * are returned, so distinct ones take it a fifth of the time of an aggregate of their texts.
 */
const otherPartsSql = (tableRead: TableRead, bounds: TimeBounds, known: readonly string[]): SqlFragment =>
  sql`select toString(part) from (select distinct arrayJoin(parts) as part from ${tableOf(tableRead)}
    where ${and([granulesOf(tableRead, bounds), IS_IN_PARTS, sql`indexHint(not hasAll(${param.texts(known)}, ${PARTS_OF_GRANULE}))`])}
    limit ${digits(SHAPES_MAX + 1)})`

/** Whether any name of an overflow entry contains each of the texts. Asking for every event takes three times as long. */
function namesSql(tableRead: TableRead, bounds: TimeBounds, texts: readonly string[]): SqlFragment {
  const found = texts.map((text) => sql`toUInt8(max(${fitsText(text)(sql`name`)}))`)
  return sql`select ${joined(found)} from (select arrayJoin(${OVERFLOW_NAMES}) as name from ${tableOf(tableRead)}
    where ${and([granulesOf(tableRead, bounds), IS_IN_PARTS])})`
}

const tableOf = ({ table }: TableRead): SqlFragment => name(table)
