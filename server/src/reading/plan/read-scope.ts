import { oncePerObject } from '../../kernel/once-per-object.ts'
import { MINUTE_OF_EVENT } from '../../lines/layout/table.ts'
import { instant, storedNs } from '../fields/comparisons.ts'
import { filterSql } from '../filter/filter.ts'
import type { TimeBounds } from '../query.ts'
import { and, constant, FALSE, inList, or, param, reading, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { contextOf } from './table-read.ts'
import { idsOf, type LocatedSource, type TableRead } from './table-reads.ts'

/** How many retention cutoffs a statement lists one by one. */
const STARTS_MAX = 16

/**
 * Returns the condition of every read of a table: its datasets, each within its retention, the time range, and the events that the reader may see. If
 * further conditions leave only some parts of the range, the store need not look elsewhere.
 */
export const scopeOf = (tableRead: TableRead, bounds: TimeBounds, parts?: readonly TimeBounds[]): SqlFragment =>
  and([rangeOf(tableRead, bounds, parts), requiredSql(tableRead)])

/**
 * The condition that selects the required events of each source. What is known about overflow maps is about the keys of the query, so this reads them
 * everywhere.
 */
export const requiredSql = oncePerObject((tableRead: TableRead): SqlFragment => {
  const { sources, slots } = tableRead
  if (sources.every(({ required }) => required === undefined)) return TRUE
  const context = contextOf({ ...tableRead, slots: { ...slots, mayOverflow: () => true } })
  const alike = Map.groupBy(sources, ({ required }) => required)
  const parts = [...alike].map(([required, own]) => {
    const condition = required ? filterSql(required, context) : TRUE
    return alike.size === 1 ? condition : and([oneOf(own), condition])
  })
  return or(parts)
})

function rangeOf(tableRead: TableRead, { fromMs, toMs }: TimeBounds, parts?: readonly TimeBounds[]): SqlFragment {
  const { shapes } = tableRead
  const startOf = startIn({ fromMs, toMs })
  const begun = sourcesBefore(tableRead, { fromMs, toMs })
  if (begun.length === 0) return FALSE
  // An event with a shape that appeared after the shapes were read arrived after the query.
  const known = shapes === undefined ? TRUE : shapes.length === 0 ? FALSE : inList(sql`shape`, param.texts(shapes))
  const byStart = sourcesByStart(tableRead, { fromMs, toMs })
  const earliest = Math.min(...byStart.keys())
  const within = [...withinSql({ fromMs: earliest, toMs }), periodsSql(tableRead, { fromMs: earliest, toMs }, parts)]
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
export const sourcesByStart = (tableRead: TableRead, bounds: TimeBounds): ReadonlyMap<number, readonly LocatedSource[]> => {
  const begun = sourcesBefore(tableRead, bounds)
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
export function granulesOf(tableRead: TableRead, bounds: TimeBounds): SqlFragment {
  const begun = sourcesBefore(tableRead, bounds)
  return begun.length === 0 ? FALSE : and([oneOf(begun), sql`indexHint(${and(withinSql(bounds))})`, periodsSql(tableRead, bounds)])
}

/** Longer conditions take the store longer to prepare than they save. */
const PARTS_MAX = 8

/** Selects the granules with periods of the time range, or of its parts. The store reads no column for it. */
function periodsSql({ periods }: TableRead, bounds: TimeBounds, parts: readonly TimeBounds[] = []): SqlFragment {
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
function sourcesBefore({ sources }: TableRead, bounds: TimeBounds): readonly LocatedSource[] {
  const begun = sources.filter((source) => startIn(bounds)(source) < bounds.toMs)
  return begun.length === sources.length ? sources : begun
}

export function oneOf(sources: readonly LocatedSource[]): SqlFragment {
  const [only] = sources
  return only && sources.length === 1 ? sql`log_id = ${param.uuid(only.logId)}` : inList(sql`log_id`, idsOf(sources))
}

export const MINUTE_MS = 60_000
/** The largest number of a minute in the store. */
const MINUTES_MAX = 2 ** 32 - 1
/** The minute of an event, which the store has counts for. */
export const MINUTE: SqlFragment = using('storedCounts', reading(['ts'], constant(MINUTE_OF_EVENT)))

/** Selects all minutes of a time range, also those that are partly outside. */
export function minutesAround(tableRead: TableRead, { fromMs, toMs }: TimeBounds): SqlFragment {
  const sources = [...sourcesByStart(tableRead, { fromMs, toMs }).values()].flat()
  if (sources.length === 0) return FALSE
  const [first, last] = [fromMs, toMs].map((ms) => param.int64(BigInt(Math.min(MINUTES_MAX, Math.max(0, Math.floor(ms / MINUTE_MS))))))
  return and([oneOf(sources), sql`${MINUTE} >= ${first ?? param.int64(0n)}`, sql`${MINUTE} <= ${last ?? param.int64(0n)}`])
}
