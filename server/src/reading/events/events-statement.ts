import type { SortOrder } from '@dendro/language/tree'
import { isInParts } from '../../lines/parts.ts'
import type { Slot } from '../../lines/slots.ts'
import { instant, instantNs, storedNs } from '../filter/comparisons.ts'
import { keyLocations, pathsOf } from '../filter/field-locations.ts'
import { keyText, readable } from '../filter/field-text.ts'
import { type BranchContext, builtIn, filterSql } from '../filter/filter.ts'
import { CANDIDATES, hintsOf, type IndexHints } from '../filter/skip-indexes.ts'
import { familyNumber } from '../patterns/family-number.ts'
import { columnsOf, idsOf, type LocatedSource, levelColumns, type QueryBranch } from '../plan/table-reads.ts'
import type { EventPosition, EventQuery, EventsRequest, TimeBounds } from '../query.ts'
import { among, and, constant, digits, FALSE, joined, name, or, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'
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
    const met = filterSql(filter, contextOf(branch))
    if (met === FALSE) continue
    const columns = columnsFor(branch, request)
    const layout = {
      tableClass: branch.tableClass,
      columns,
      sources: new Map(branch.sources.map((one) => [one.logId, one])),
      hasRaw: request.withRaw,
    }
    parts.push(
      branchPart(branch, {
        met: whereOf(met, hintsOf(filter, { tableClass: branch.tableClass, ...contextOf(branch) })),
        bounds,
        wish: request,
        columns,
        number: layouts.length,
      }),
    )
    layouts.push(layout)
  }
  return { parts, layouts }
}

const contexts = new WeakMap<QueryBranch, BranchContext>()

/** Cached per branch, so that a parameter that occurs several times in a statement is sent once. */
export function contextOf(branch: QueryBranch): BranchContext {
  const known = contexts.get(branch)
  if (known) return known
  const { sources, slots, shapes, parts, notInNames } = branch
  const context = {
    slots,
    lines: {
      columns: columnsOf(branch),
      levels: levelColumns(branch),
      ...(shapes ? { shapes } : {}),
      ...(parts ? { parts } : {}),
      ...(notInNames ? { notInNames } : {}),
      hasParts: hasParts(branch),
    },
    collection: nameOf(sources, ({ collection }) => collection),
    dataset: nameOf(sources, ({ dataset }) => dataset),
    family: familyNumber(sources),
  }
  contexts.set(branch, context)
  return context
}

/** Shapes that were read tell more than a layout, which may come from a cache. */
export const hasParts = ({ sources, shapes = [] }: QueryBranch): boolean =>
  sources.some(({ located }) => located.map.open.size > 0) || shapes.some(isInParts)

function nameOf(sources: readonly LocatedSource[], nameIn: (source: LocatedSource) => string): SqlFragment {
  const texts = sources.map(nameIn)
  const [first = ''] = texts
  if (texts.every((one) => one === first)) return sql`${param.text(first)}`
  return sql`transform(log_id, ${idsOf(sources)}, ${param.texts(texts)}, '')`
}

/** How many retention cutoffs a statement lists one by one. */
const STARTS_MAX = 16

/**
 * Returns the condition of every read of a branch: its datasets, each within its retention, and the time range. If further conditions leave only some
 * parts of the range, the store need not look elsewhere.
 */
export function scopeOf(branch: QueryBranch, { fromMs, toMs }: TimeBounds, parts?: readonly TimeBounds[]): SqlFragment {
  const { shapes } = branch
  const startOf = startIn({ fromMs, toMs })
  const begun = begunSources(branch, { fromMs, toMs })
  if (begun.length === 0) return FALSE
  // An event with a shape that appeared after the shapes were read arrived after the query.
  const known = shapes === undefined ? TRUE : shapes.length === 0 ? FALSE : among(sql`shape`, param.texts(shapes))
  const byStart = sourcesByStart(branch, { fromMs, toMs })
  const earliest = Math.min(...byStart.keys())
  const within = [...withinSql({ fromMs: earliest, toMs }), periodsSql(branch, { fromMs: earliest, toMs }, parts)]
  if (byStart.size === 1) return and([oneOf(begun), ...within, known])
  if (byStart.size > STARTS_MAX) {
    const starts = param.int64s(begun.map((source) => storedNs(startOf(source))))
    return and([
      oneOf(begun),
      ...within,
      sql`ts >= fromUnixTimestamp64Nano(transform(log_id, ${idsOf(begun)}, ${starts}, 0), 'UTC')`,
      known,
    ])
  }
  return and([...within, or([...byStart].map(([startMs, own]) => and([oneOf(own), sql`ts >= ${instant(startMs)}`]))), known])
}

/** Groups the sources that keep events of the time range by the time from which on they keep them. */
export const sourcesByStart = (branch: QueryBranch, bounds: TimeBounds): ReadonlyMap<number, readonly LocatedSource[]> => {
  const begun = begunSources(branch, bounds)
  const byStart = Map.groupBy(begun, startIn(bounds))
  const [first] = byStart.keys()
  // The same list as before, so that its ids are sent once.
  return first !== undefined && byStart.size === 1 ? new Map([[first, begun]]) : byStart
}

const startIn =
  ({ fromMs }: TimeBounds) =>
  ({ keptSinceMs }: LocatedSource): number =>
    Math.max(fromMs, keptSinceMs ?? fromMs)

/**
 * Returns a wider condition, for reads that may find more than the events of a query have. The time only selects the granules, and is not read:
 * comparing it takes as long as the rest of such a read.
 */
export function granulesOf(branch: QueryBranch, bounds: TimeBounds): SqlFragment {
  const begun = begunSources(branch, bounds)
  return begun.length === 0 ? FALSE : and([oneOf(begun), sql`indexHint(${and(withinSql(bounds))})`, periodsSql(branch, bounds)])
}

/** Longer conditions take the store longer to prepare than they save. */
const PARTS_MAX = 8

/** Selects the granules with periods of the time range, or of its parts. The store reads no column for it. */
function periodsSql({ periods }: QueryBranch, bounds: TimeBounds, parts: readonly TimeBounds[] = []): SqlFragment {
  if (periods.length === 0) return TRUE
  const ranges = parts.length === 0 || parts.length > PARTS_MAX ? [bounds] : parts
  const numberAt = (ms: number, periodS: number) => param.int64(BigInt(Math.floor(Math.max(ms, 0) / (periodS * MS_PER_S))))
  const selected = periods.flatMap((periodS) =>
    // The number of a period nearly tells its length. A further condition would keep the store from combining indexes.
    ranges.map(({ fromMs, toMs }) => sql`(period >= ${numberAt(fromMs, periodS)} and period <= ${numberAt(toMs, periodS)})`),
  )
  return sql`indexHint(${or(selected)})`
}

const MS_PER_S = 1_000

const withinSql = ({ fromMs, toMs }: TimeBounds): readonly SqlFragment[] => [sql`ts >= ${instant(fromMs)}`, sql`ts < ${instant(toMs)}`]

/** The sources that keep events of the time range. */
function begunSources({ sources }: QueryBranch, bounds: TimeBounds): readonly LocatedSource[] {
  const begun = sources.filter((source) => startIn(bounds)(source) < bounds.toMs)
  return begun.length === sources.length ? sources : begun
}

export function oneOf(sources: readonly LocatedSource[]): SqlFragment {
  const [only] = sources
  return only && sources.length === 1 ? sql`log_id = ${param.uuid(only.logId)}` : among(sql`log_id`, idsOf(sources))
}

/**
 * Combines the scope with the filter. Hints use the index to skip parts of the table and are evaluated last, on events that match all else.
 * The store combines two indexes only in a statement with few conditions, so the filter is made one condition for it.
 */
export const whereOf =
  (met: SqlFragment, { conditions, haveAlternatives, candidates }: IndexHints) =>
  (scope: SqlFragment): SqlFragment => {
    // In one condition the store would test the lines of all events.
    if (candidates)
      return sql`prewhere ${CANDIDATES} ${and([scope, candidates])} where ${and([haveAlternatives ? sql`if(${met}, 1, 0)` : met, ...conditions])}`
    if (conditions.length === 0) return sql`where ${and([scope, met])}`
    return sql`prewhere ${and([scope, haveAlternatives ? sql`if(${met}, 1, 0)` : met])} where ${and(conditions)}`
  }

type BranchRead = {
  met: (scope: SqlFragment) => SqlFragment
  bounds: TimeBounds
  wish: EventsRequest
  columns: readonly Slot[]
  number: number
}

/** The read of one branch in the columns of its table, and what makes rows of several branches alike. */
type BranchPart = { readonly fromTable: SqlFragment; readonly commonColumns: SqlFragment }

/** Sorts and limits before it reads the values, so that values are read for the returned events only. */
function branchPart(branch: QueryBranch, { met, bounds, wish: request, columns, number }: BranchRead): BranchPart {
  const table = name(branch.table)
  const where = met(and([scopeOf(branch, bounds), positionSql(request, bounds)]))
  const fixed = request.withRaw
    ? sql`ts, seq, log_id, sev, origin, skeleton, shape, more, parts, raw`
    : sql`ts, seq, log_id, sev, origin, skeleton, shape, more, parts`
  const all = joined([fixed, ...columns.map(name), ...rankColumns(request.orderBy, branch)])
  const inOrder = orderOf(request, levelOf(branch))
  return {
    fromTable: sql`select ${all} from ${table} ${where} ${inOrder} limit ${digits(request.limit)}`,
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
