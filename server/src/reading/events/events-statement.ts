import { ARRIVAL_KEY } from '@dendro/language/instant'
import type { SortOrder } from '@dendro/language/tree'
import type { Slot } from '../../lines/layout/slots.ts'
import { instantNs } from '../fields/comparisons.ts'
import { keyLocations, pathsOf } from '../fields/field-locations.ts'
import { fromCostlyText, keyText, mayBeInArray, readable } from '../fields/field-text.ts'
import { builtIn } from '../filter/filter.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { contextOf, type FilteredTable, filterTable } from '../plan/table-read.ts'
import { columnsOf, type TableRead } from '../plan/table-reads.ts'
import type { EventPosition, EventQuery, EventsRequest, TimeBounds } from '../query.ts'
import { and, constant, digits, inList, joined, name, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { exactNumber } from '../statistics/aggregates.ts'
import type { RowLayout } from './event-row.ts'

/**
 * A statement that returns events, and the layout of its rows. `hasTableRows` means that a row has the columns of the table, not those that rows of
 * several tables have in common.
 */
export type EventsStatement = { readonly whole: SqlFragment; readonly layouts: readonly RowLayout[]; readonly hasTableRows: boolean }

/** Builds the statement for up to `limit` events of a window. Undefined when no event can match. */
export function eventsStatement(
  tableReads: readonly TableRead[],
  { filter }: Pick<EventQuery, 'filter'>,
  request: EventsRequest,
  bounds: TimeBounds,
): EventsStatement | undefined {
  const { parts, layouts } = partsOf(tableReads, filter, request, bounds)
  if (parts.length === 1) return ofOneTable(parts, layouts, request)
  const together = sql`select * from (${inCommonColumns(parts)}) ${orderOf(request, 'outer')} limit ${digits(request.limit)}`
  return parts.length === 0 ? undefined : withColumns(together, layouts)
}

/** Builds the statement for up to `limit` events of each table, unordered. Undefined when no event can match. */
export function eventsPerTable(
  tableReads: readonly TableRead[],
  { filter }: Pick<EventQuery, 'filter'>,
  request: EventsRequest,
  bounds: TimeBounds,
): EventsStatement | undefined {
  const { parts, layouts } = partsOf(tableReads, filter, request, bounds)
  if (parts.length === 1) return ofOneTable(parts, layouts, request)
  return parts.length === 0 ? undefined : withColumns(inCommonColumns(parts), layouts)
}

/** Every further level of a statement takes the store as long as reading a hundred events. */
function ofOneTable(parts: readonly TablePart[], layouts: readonly RowLayout[], { orderBy }: EventsRequest): EventsStatement {
  const [only] = parts
  if (!only || orderBy) return withColumns(inCommonColumns(parts), layouts)
  return { whole: only.fromTable, layouts, hasTableRows: true }
}

const inCommonColumns = (parts: readonly TablePart[]): SqlFragment => joined(parts.map(commonColumns), ' union all ')

const withColumns = (whole: SqlFragment, layouts: readonly RowLayout[]): EventsStatement => ({
  whole: sql`select layout, ns, seq, log, sev, origin, skeleton, shape, line, more, parts, found from (${whole})`,
  layouts,
  hasTableRows: false,
})

function partsOf(tableReads: readonly TableRead[], filter: EventQuery['filter'], request: EventsRequest, bounds: TimeBounds) {
  const layouts: RowLayout[] = []
  const parts: TablePart[] = []
  for (const tableRead of tableReads) {
    const filtered = filterTable(tableRead, filter)
    if (!filtered) continue
    const columns = columnsFor(tableRead, request)
    const layout = {
      tableClass: tableRead.tableClass,
      columns,
      sources: new Map(tableRead.sources.map((one) => [one.logId, one])),
      hasRaw: request.withRaw,
    }
    parts.push(tablePart(filtered, { bounds, request, columns, number: layouts.length }))
    layouts.push(layout)
  }
  return { parts, layouts }
}

type PartOptions = {
  bounds: TimeBounds
  request: EventsRequest
  columns: readonly Slot[]
  number: number
}

/** The read of one table in the columns of its table, and what makes rows of several tables alike. */
type TablePart = { readonly fromTable: SqlFragment; readonly commonColumns: SqlFragment }

/** Sorts and limits before it reads the values, so that values are read for the returned events only. */
function tablePart({ tableRead, from }: FilteredTable, { bounds, request, columns, number }: PartOptions): TablePart {
  const events = from(and([scopeOf(tableRead, bounds), positionSql(request)]))
  const fixed = request.withRaw
    ? sql`ts, seq, log_id, sev, origin, skeleton, shape, more, parts, raw`
    : sql`ts, seq, log_id, sev, origin, skeleton, shape, more, parts`
  const all = joined([fixed, ...columns.map(name), ...rankColumns(request.orderBy, tableRead)])
  const inOrder = orderOf(request, levelOf(tableRead))
  return {
    fromTable: sql`select ${all} ${events} ${inOrder} limit ${digits(request.limit)}`,
    commonColumns: sql`toUInt64(${digits(number)}) as layout, toUnixTimestamp64Nano(ts) as ns, seq, toString(log_id) as log, sev, origin, skeleton,
      shape, ${request.withRaw ? sql`raw` : sql`''`} as line, more, parts, ${valuesOf(columns)} as found${request.orderBy ? sql`, rank_absent, rank_text, rank_number, rank_exact, rank_value` : sql``}`,
  }
}

const commonColumns = ({ fromTable, commonColumns: columns }: TablePart): SqlFragment => sql`select ${columns} from (${fromTable})`

const valuesOf = (columns: readonly Slot[]): SqlFragment =>
  columns.length === 0 ? sql`emptyArrayString()` : sql`cast([${joined(columns.map(name))}], 'Array(String)')`

/** Returns the columns to read: those of the requested keys, or all when lines are rebuilt from them. */
function columnsFor(tableRead: TableRead, { keys, withRaw }: EventsRequest): readonly Slot[] {
  const all = columnsOf(tableRead)
  if (keys === 'all' || withRaw) return all
  const paths = keys.flatMap(pathsOf)
  const wanted = new Set(tableRead.sources.flatMap(({ located }) => paths.map((path) => located.map.slots.get(path))))
  return all.filter((column) => wanted.has(column))
}

function positionSql({ newestFirst, after, numbers }: EventsRequest): SqlFragment {
  return and([
    numbers === undefined ? TRUE : inList(sql`seq`, param.uint64s(numbers)),
    after === undefined ? TRUE : afterSql(after, newestFirst),
  ])
}

/** Not a tuple comparison: the store reads less when the time bound is a separate condition. */
function afterSql({ timeNs, seq }: EventPosition, newestFirst: boolean): SqlFragment {
  const [time, number] = [instantNs(timeNs), param.uint64(seq)]
  return newestFirst ? sql`ts <= ${time} and (ts < ${time} or seq < ${number})` : sql`ts >= ${time} and (ts > ${time} or seq > ${number})`
}

/** Sort columns for `order_by`: events without the key come last, numbers before other texts. */
function rankColumns(order: SortOrder | undefined, tableRead: TableRead): readonly SqlFragment[] {
  if (!order) return []
  const number = numberOfKey(order.key, tableRead)
  if (number !== undefined) return rankNames(ranksOf({ stored: sql`'-'`, number, exact: sql`toInt256(0)` }))
  const own = builtIn(order.key, contextOf(tableRead))
  const places = own ? [] : keyLocations(order.key, tableRead.slots)
  const stored = own?.text ?? keyText(places)
  if (order.key !== '@raw' && !mayBeInArray(places)) return rankNames(ranksOfText(stored))
  // Ranks that are computed one by one have some twenty copies of the text.
  const ranks = fromCostlyText(stored, (text) => sql`tuple(${joined(ranksOfText(text))})`)
  return [sql`${ranks} as ranks`, ...rankNames(RANKS.map((_, index) => sql`tupleElement(ranks, ${digits(index + 1)})`))]
}

const RANKS = ['rank_absent', 'rank_text', 'rank_number', 'rank_exact', 'rank_value'] as const
const rankNames = (ranks: readonly SqlFragment[]): readonly SqlFragment[] =>
  RANKS.map((rank, index) => sql`${ranks[index] ?? sql`0`} as ${constant(rank)}`)

function ranksOfText(stored: SqlFragment): readonly SqlFragment[] {
  const read = sql`if(match(${stored}, '^[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$'), toFloat64OrNull(${stored}), null)`
  const number = sql`if(isFinite(${read}), ${read}, null)`
  return ranksOf({ stored, number, exact: exactNumber(stored, number) })
}

type RankSource = { readonly stored: SqlFragment; readonly number: SqlFragment; readonly exact: SqlFragment }

/** The values of the columns in RANKS. */
const ranksOf = ({ stored, number, exact }: RankSource): readonly SqlFragment[] => [
  sql`toUInt8(${stored} = '')`,
  sql`toUInt8(isNull(${number}))`,
  number,
  exact,
  sql`toString(${readable(stored)})`,
]

/** Returns the number of a built-in numeric key, or undefined for other keys. */
function numberOfKey(key: string, _tableRead: TableRead): SqlFragment | undefined {
  if (key === '@time' || key === '@timestamp') return sql`toNullable(toUnixTimestamp64Nano(ts))`
  if (key === '@sequence' || key === ARRIVAL_KEY) return sql`toNullable(toInt64(seq))`
  return undefined
}

/** `dataset` and `periods` are for one dataset in a table that is sorted by time or by pattern within periods of one length. */
type OrderLevel = 'outer' | 'inner' | 'dataset' | 'periods'

const SORT_KEYS: Readonly<Record<OrderLevel, readonly string[]>> = {
  outer: [],
  inner: [],
  dataset: ['log_id'],
  periods: ['log_id', 'period_s', 'period'],
}

/** Periods of several lengths overlap, so their rows are in no order. */
const levelOf = ({ sources, periods }: TableRead): OrderLevel =>
  sources.length > 1 || periods.length > 1 ? 'inner' : periods.length === 1 ? 'periods' : 'dataset'

/** Within one dataset the order begins with the sort key of the table, so that the store can stop reading early. */
function orderOf({ orderBy, newestFirst }: EventsRequest, where: OrderLevel): SqlFragment {
  const time = where === 'outer' ? 'ns' : 'ts'
  const direction = newestFirst ? 'desc' : 'asc'
  if (!orderBy) return constant(`order by ${[...SORT_KEYS[where], time, 'seq'].map((column) => `${column} ${direction}`).join(', ')}`)
  const own = orderBy.descending ? 'desc' : 'asc'
  return constant(
    `order by rank_absent, rank_text, rank_number ${own}, rank_exact ${own}, rank_value ${own}, ${time} ${direction}, seq ${direction}`,
  )
}
