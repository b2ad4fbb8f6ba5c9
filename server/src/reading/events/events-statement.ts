import type { SortOrder } from '@dendro/language/tree'
import type { Slot } from '../../lines/slots.ts'
import { instant, instantNs } from '../fields/comparisons.ts'
import { keyLocations, pathsOf } from '../fields/field-locations.ts'
import { keyText, readable } from '../fields/field-text.ts'
import { builtIn } from '../filter/filter.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { contextOf, type FilteredTable, filterTable } from '../plan/table-read.ts'
import { columnsOf, type QueryBranch } from '../plan/table-reads.ts'
import type { EventPosition, EventQuery, EventsRequest, TimeBounds } from '../query.ts'
import { among, and, constant, digits, joined, name, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
import { exactNumber } from '../statistics/aggregates.ts'
import type { BranchLayout } from './event-row.ts'

/**
 * A statement that returns events, and the layout of its rows. `hasTableRows` means that a row has the columns of the table, not those that rows of
 * several branches have in common.
 */
export type EventsStatement = { readonly whole: SqlFragment; readonly carriers: readonly BranchLayout[]; readonly hasTableRows: boolean }

/** Builds the statement for up to `limit` events of a window. Undefined when no event can match. */
export function eventsStatement(
  branches: readonly QueryBranch[],
  { filter }: Pick<EventQuery, 'filter'>,
  request: EventsRequest,
  bounds: TimeBounds,
): EventsStatement | undefined {
  const { parts, layouts } = partsOf(branches, filter, request, bounds)
  if (parts.length === 1) return ofOneBranch(parts, layouts, request)
  const together = sql`select * from (${inCommonColumns(parts)}) ${orderOf(request, 'outer')} limit ${digits(request.limit)}`
  return parts.length === 0 ? undefined : withColumns(together, layouts)
}

/** Builds the statement for up to `limit` events of each branch, unordered. Undefined when no event can match. */
export function eventsPerBranch(
  branches: readonly QueryBranch[],
  { filter }: Pick<EventQuery, 'filter'>,
  request: EventsRequest,
  bounds: TimeBounds,
): EventsStatement | undefined {
  const { parts, layouts } = partsOf(branches, filter, request, bounds)
  if (parts.length === 1) return ofOneBranch(parts, layouts, request)
  return parts.length === 0 ? undefined : withColumns(inCommonColumns(parts), layouts)
}

/** Every further level of a statement takes the store as long as reading a hundred events. */
function ofOneBranch(parts: readonly BranchPart[], layouts: readonly BranchLayout[], { orderBy }: EventsRequest): EventsStatement {
  const [only] = parts
  if (!only || orderBy) return withColumns(inCommonColumns(parts), layouts)
  return { whole: only.fromTable, carriers: layouts, hasTableRows: true }
}

const inCommonColumns = (parts: readonly BranchPart[]): SqlFragment => joined(parts.map(commonColumns), ' union all ')

const withColumns = (whole: SqlFragment, layouts: readonly BranchLayout[]): EventsStatement => ({
  whole: sql`select branch, ns, seq, log, sev, origin, skeleton, shape, line, more, parts, found from (${whole})`,
  carriers: layouts,
  hasTableRows: false,
})

function partsOf(branches: readonly QueryBranch[], filter: EventQuery['filter'], request: EventsRequest, bounds: TimeBounds) {
  const layouts: BranchLayout[] = []
  const parts: BranchPart[] = []
  for (const branch of branches) {
    const filtered = filterTable(branch, filter)
    if (!filtered) continue
    const columns = columnsFor(branch, request)
    const layout = {
      tableClass: branch.tableClass,
      columns,
      sources: new Map(branch.sources.map((one) => [one.logId, one])),
      hasRaw: request.withRaw,
    }
    parts.push(branchPart(filtered, { bounds, request, columns, number: layouts.length }))
    layouts.push(layout)
  }
  return { parts, layouts }
}

type BranchRead = {
  bounds: TimeBounds
  request: EventsRequest
  columns: readonly Slot[]
  number: number
}

/** The read of one branch in the columns of its table, and what makes rows of several branches alike. */
type BranchPart = { readonly fromTable: SqlFragment; readonly commonColumns: SqlFragment }

/** Sorts and limits before it reads the values, so that values are read for the returned events only. */
function branchPart({ branch, from }: FilteredTable, { bounds, request, columns, number }: BranchRead): BranchPart {
  const events = from(and([scopeOf(branch, bounds), positionSql(request, bounds)]))
  const fixed = request.withRaw
    ? sql`ts, seq, log_id, sev, origin, skeleton, shape, more, parts, raw`
    : sql`ts, seq, log_id, sev, origin, skeleton, shape, more, parts`
  const all = joined([fixed, ...columns.map(name), ...rankColumns(request.orderBy, branch)])
  const inOrder = orderOf(request, levelOf(branch))
  return {
    fromTable: sql`select ${all} ${events} ${inOrder} limit ${digits(request.limit)}`,
    commonColumns: sql`toUInt64(${digits(number)}) as branch, toUnixTimestamp64Nano(ts) as ns, seq, toString(log_id) as log, sev, origin, skeleton,
      shape, ${request.withRaw ? sql`raw` : sql`''`} as line, more, parts, ${valuesOf(columns)} as found${request.orderBy ? sql`, rank_absent, rank_text, rank_number, rank_exact, rank_value` : sql``}`,
  }
}

const commonColumns = ({ fromTable, commonColumns: columns }: BranchPart): SqlFragment => sql`select ${columns} from (${fromTable})`

const valuesOf = (columns: readonly Slot[]): SqlFragment =>
  columns.length === 0 ? sql`emptyArrayString()` : sql`cast([${joined(columns.map(name))}], 'Array(String)')`

/** Returns the columns to read: those of the requested keys, or all when lines are rebuilt from them. */
function columnsFor(branch: QueryBranch, { keys, withRaw }: EventsRequest): readonly Slot[] {
  const all = columnsOf(branch)
  if (keys === 'all' || withRaw) return all
  const paths = keys.flatMap(pathsOf)
  const wanted = new Set(branch.sources.flatMap(({ located }) => paths.map((path) => located.map.slots.get(path))))
  return all.filter((column) => wanted.has(column))
}

function positionSql({ newestFirst, after, fromSequence, numbers }: EventsRequest, { fromMs }: TimeBounds): SqlFragment {
  return and([
    numbers === undefined ? TRUE : among(sql`seq`, param.uint64s(numbers)),
    after === undefined ? TRUE : afterSql(after, newestFirst),
    fromSequence === undefined ? TRUE : sql`(ts >= ${instant(fromMs + 1)} or seq >= ${param.uint64(fromSequence)})`,
  ])
}

/** Not a tuple comparison: the store reads less when the time bound is a separate condition. */
function afterSql({ timeNs, seq }: EventPosition, newestFirst: boolean): SqlFragment {
  const [time, number] = [instantNs(timeNs), param.uint64(seq)]
  return newestFirst ? sql`ts <= ${time} and (ts < ${time} or seq < ${number})` : sql`ts >= ${time} and (ts > ${time} or seq > ${number})`
}

/** Sort columns for `order_by`: events without the key come last, numbers before other texts. */
function rankColumns(order: SortOrder | undefined, branch: QueryBranch): readonly SqlFragment[] {
  if (!order) return []
  const number = numberOfKey(order.key, branch)
  const stored =
    number === undefined ? (builtIn(order.key, contextOf(branch))?.text ?? keyText(keyLocations(order.key, branch.slots))) : sql`'-'`
  const read = number ?? sql`if(match(${stored}, '^[+-]?[0-9]+(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?$'), toFloat64OrNull(${stored}), null)`
  const finite = sql`if(isFinite(${read}), ${read}, null)`
  return [
    sql`toUInt8(${stored} = '') as rank_absent`,
    sql`toUInt8(isNull(${number ?? finite})) as rank_text`,
    sql`${number ?? finite} as rank_number`,
    sql`${number ? sql`toInt256(0)` : exactNumber(stored, finite)} as rank_exact`,
    sql`toString(${readable(stored)}) as rank_value`,
  ]
}

/** Returns the number of a built-in numeric key, or undefined for other keys. */
function numberOfKey(key: string, _branch: QueryBranch): SqlFragment | undefined {
  if (key === '@time' || key === '@timestamp') return sql`toNullable(toUnixTimestamp64Nano(ts))`
  if (key === '@sequence') return sql`toNullable(toInt64(seq))`
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
const levelOf = ({ sources, periods }: QueryBranch): OrderLevel =>
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
