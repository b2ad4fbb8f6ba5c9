import type { Order } from '@dendro/language/tree'
import type { Slot } from '../lines/slots.ts'
import { tableClasses } from '../lines/table.ts'
import { type Branch, columnsOf, idsOf, type Reached } from './branches.ts'
import { builtIn, filterSql, type Scene } from './condition.ts'
import type { Carrier } from './found-event.ts'
import { hintsOf } from './hints.ts'
import { keyText, readable } from './key-text.ts'
import { exactNumber } from './measures.ts'
import { pathsOf, placesOf } from './places.ts'
import { instant, instantNs, storedNs } from './predicates.ts'
import type { Bounds, EventsWish, Position, Question } from './question.ts'
import { among, and, constant, digits, FALSE, joined, name, or, param, type Sql, sql, TRUE } from './statement.ts'

/** An EventsPlan is a statement that gives back events, and how to read its rows. */
export type EventsPlan = { readonly whole: Sql; readonly carriers: readonly Carrier[] }

/** eventsPlan asks for up to so many events of a window; undefined when nothing can be there. */
export function eventsPlan(
  branches: readonly Branch[],
  { filter }: Pick<Question, 'filter'>,
  wish: EventsWish,
  bounds: Bounds,
): EventsPlan | undefined {
  const { parts, carriers } = partsOf(branches, filter, wish, bounds)
  const [only] = parts
  if (only === undefined) return undefined
  const together = sql`select * from (${joined(parts, ' union all ')}) ${orderOf(wish, 'outer')} limit ${digits(wish.limit)}`
  return planOf(parts.length === 1 ? only : together, carriers)
}

/** eachPlan asks for up to so many events of every branch by itself, in no order; undefined when nothing can be there. */
export function eachPlan(
  branches: readonly Branch[],
  { filter }: Pick<Question, 'filter'>,
  wish: EventsWish,
  bounds: Bounds,
): EventsPlan | undefined {
  const { parts, carriers } = partsOf(branches, filter, wish, bounds)
  return parts.length === 0 ? undefined : planOf(joined(parts, ' union all '), carriers)
}

const planOf = (whole: Sql, carriers: readonly Carrier[]): EventsPlan => ({
  whole: sql`select branch, ns, seq, log, sev, origin, skeleton, shape, line, more, found from (${whole})`,
  carriers,
})

function partsOf(branches: readonly Branch[], filter: Question['filter'], wish: EventsWish, bounds: Bounds) {
  const carriers: Carrier[] = []
  const parts: Sql[] = []
  for (const branch of branches) {
    const met = filterSql(filter, sceneOf(branch))
    if (met === FALSE) continue
    const columns = columnsFor(branch, wish)
    const carrier = {
      tableClass: branch.tableClass,
      columns,
      sources: new Map(branch.sources.map((one) => [one.logId, one])),
      hasRaw: wish.withRaw,
    }
    parts.push(branchSql(branch, { met: whereOf(met, hintsOf(filter, branch.tableClass)), bounds, wish, columns, number: carriers.length }))
    carriers.push(carrier)
  }
  return { parts, carriers }
}

const scenes = new WeakMap<Branch, Scene>()

/** sceneOf is made once for a branch, so that what stands in several places of a statement is sent once. */
export function sceneOf(branch: Branch): Scene {
  const known = scenes.get(branch)
  if (known) return known
  const { sources, slots, shapes } = branch
  const scene = {
    slots,
    lines: { columns: columnsOf(branch), ...(shapes ? { shapes } : {}) },
    collection: nameOf(sources, ({ collection }) => collection),
    dataset: nameOf(sources, ({ dataset }) => dataset),
  }
  scenes.set(branch, scene)
  return scene
}

function nameOf(sources: readonly Reached[], nameIn: (source: Reached) => string): Sql {
  const texts = sources.map(nameIn)
  const [first = ''] = texts
  if (texts.every((one) => one === first)) return sql`${param.text(first)}`
  return sql`transform(log_id, ${idsOf(sources)}, ${param.texts(texts)}, '')`
}

/** STARTS_MAX is how many beginnings stand in a statement one by one. */
const STARTS_MAX = 16

/** scopeOf is the condition that every read of a branch begins with: its datasets, each from when its events are kept, and the range of time. */
export function scopeOf({ sources, shapes }: Branch, { fromMs, toMs }: Bounds): Sql {
  const startOf = ({ keptSinceMs }: Reached) => Math.max(fromMs, keptSinceMs ?? fromMs)
  const begun = sources.filter((source) => startOf(source) < toMs)
  if (begun.length === 0) return FALSE
  // A line of a shape that came after the shapes were looked at came after the question.
  const known = shapes === undefined ? TRUE : shapes.length === 0 ? FALSE : among(sql`shape`, param.texts(shapes))
  const byStart = Map.groupBy(begun.length === sources.length ? sources : begun, startOf)
  const earliest = Math.min(...byStart.keys())
  const within = [sql`ts >= ${instant(earliest)}`, sql`ts < ${instant(toMs)}`]
  if (byStart.size === 1) return and([oneOf(begun.length === sources.length ? sources : begun), ...within, known])
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

function oneOf(sources: readonly Reached[]): Sql {
  const [only] = sources
  return only && sources.length === 1 ? sql`log_id = ${param.uuid(only.logId)}` : among(sql`log_id`, idsOf(sources))
}

/**
 * whereOf puts the conditions of a filter behind those of the scope. What only the index answers is looked at last, in events that meet all else: it
 * leaves out parts of the table before anything is read.
 */
export const whereOf =
  (met: Sql, hints: readonly Sql[]) =>
  (scope: Sql): Sql =>
    hints.length === 0 ? sql`where ${and([scope, met])}` : sql`prewhere ${and([scope, met])} where ${and(hints)}`

type BranchRead = { met: (scope: Sql) => Sql; bounds: Bounds; wish: EventsWish; columns: readonly Slot[]; number: number }

/** branchSql sorts and cuts before it puts the values together, so that this is done for the events that are wanted only. */
function branchSql(branch: Branch, { met, bounds, wish, columns, number }: BranchRead): Sql {
  const table = name(tableClasses[branch.tableClass].table)
  const where = met(and([scopeOf(branch, bounds), positionSql(wish, bounds)]))
  const fixed = wish.withRaw
    ? sql`ts, seq, log_id, sev, origin, skeleton, shape, more, raw`
    : sql`ts, seq, log_id, sev, origin, skeleton, shape, more`
  const all = joined([fixed, ...columns.map(name), ...rankColumns(wish.orderBy, branch)])
  const inOrder = orderOf(wish, branch.sources.length === 1 ? 'dataset' : 'inner')
  return sql`select toUInt64(${digits(number)}) as branch, toUnixTimestamp64Nano(ts) as ns, seq, toString(log_id) as log, sev, origin, skeleton,
    shape, ${wish.withRaw ? sql`raw` : sql`''`} as line, more, ${valuesOf(columns)} as found${wish.orderBy ? sql`, rank_absent, rank_text, rank_number, rank_exact, rank_value` : sql``}
    from (select ${all} from ${table} ${where} ${inOrder} limit ${digits(wish.limit)})`
}

const valuesOf = (columns: readonly Slot[]): Sql =>
  columns.length === 0 ? sql`emptyArrayString()` : sql`cast([${joined(columns.map(name))}], 'Array(String)')`

/** columnsFor are the columns that are read for an event: those of the keys asked for, and all when the line is put together from them. */
function columnsFor(branch: Branch, { keys, withRaw }: EventsWish): readonly Slot[] {
  const all = columnsOf(branch)
  if (keys === 'all' || withRaw) return all
  const paths = keys.flatMap(pathsOf)
  const wanted = new Set(branch.sources.flatMap(({ located }) => paths.map((path) => located.map.slots.get(path))))
  return all.filter((column) => wanted.has(column))
}

function positionSql({ newestFirst, after, fromSequence, numbers }: EventsWish, { fromMs }: Bounds): Sql {
  return and([
    numbers === undefined ? TRUE : among(sql`seq`, param.uint64s(numbers)),
    after === undefined ? TRUE : afterSql(after, newestFirst),
    fromSequence === undefined ? TRUE : sql`(ts >= ${instant(fromMs + 1)} or seq >= ${param.uint64(fromSequence)})`,
  ])
}

/** afterSql is not a comparison of pairs: the store reads less when it sees the bound on time by itself. */
function afterSql({ timeNs, seq }: Position, newestFirst: boolean): Sql {
  const [time, number] = [instantNs(timeNs), param.uint64(seq)]
  return newestFirst ? sql`ts <= ${time} and (ts < ${time} or seq < ${number})` : sql`ts >= ${time} and (ts > ${time} or seq > ${number})`
}

/** rankColumns are by what events with a key are put in order: those that lack it last, numbers before other texts. */
function rankColumns(order: Order | undefined, branch: Branch): readonly Sql[] {
  if (!order) return []
  const number = numberOfKey(order.key, branch)
  const stored = number === undefined ? (builtIn(order.key, sceneOf(branch))?.text ?? keyText(placesOf(order.key, branch.slots))) : sql`'-'`
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

/** numberOfKey is the number that a built-in key is; undefined for all others. */
function numberOfKey(key: string, _branch: Branch): Sql | undefined {
  if (key === '@time' || key === '@timestamp') return sql`toNullable(toUnixTimestamp64Nano(ts))`
  if (key === '@sequence') return sql`toNullable(toInt64(seq))`
  return undefined
}

type Where = 'outer' | 'inner' | 'dataset'

/** orderOf is the order of the answer; within one dataset it begins with the sort key of the table, so that reading can stop early. */
function orderOf({ orderBy, newestFirst }: EventsWish, where: Where): Sql {
  const time = where === 'outer' ? 'ns' : 'ts'
  const direction = newestFirst ? 'desc' : 'asc'
  if (!orderBy) return constant(`order by ${where === 'dataset' ? `log_id ${direction}, ` : ''}${time} ${direction}, seq ${direction}`)
  const own = orderBy.descending ? 'desc' : 'asc'
  return constant(
    `order by rank_absent, rank_text, rank_number ${own}, rank_exact ${own}, rank_value ${own}, ${time} ${direction}, seq ${direction}`,
  )
}
