import type { TimeBounds } from '../query.ts'
import type { BoundedStatement } from '../run/run.ts'
import { and, column, FALSE, joined, not, or, param, type SqlFragment, sql, TRUE, using } from '../sql/sql.ts'
import { oneOf, requiredSql, scopeOf, sourcesByStart } from './read-scope.ts'
import type { TableRead } from './table-reads.ts'

/**
 * Which events of a table one part of a statement counts, and the time in milliseconds by which it assigns them to slices. Stored counts serve only
 * statements without `with rollup`.
 */
export type CountScope = {
  readonly scope: SqlFragment
  readonly timeMs: SqlFragment
  readonly isStored: boolean
  /** The range of these events. */
  readonly bounds: TimeBounds
}

export const EVENT_MS: SqlFragment = sql`toUnixTimestamp64Milli(${column('ts')})`

/** Counts all events of a range one by one. */
export const countedByEvent = (tableRead: TableRead, bounds: TimeBounds): CountScope => ({
  scope: scopeOf(tableRead, bounds),
  timeMs: EVENT_MS,
  isStored: false,
  bounds,
})

/** Each start takes a statement further parts. */
const STARTS_MAX = 4

/** The sources that keep events from the same time on, with their part of the range. */
type Start = { readonly own: TimeBounds; readonly tableRead: TableRead }

/** Splits a range by the retention of the sources, for counts that the store keeps of all events. Undefined where events have to be read. */
export function startsOfStored(tableRead: TableRead, bounds: TimeBounds): readonly Start[] | undefined {
  if (tableRead.shapes !== undefined || requiredSql(tableRead) !== TRUE || bounds.fromMs < 0) return undefined
  const starts = [...sourcesByStart(tableRead, bounds)]
  if (starts.length === 0 || starts.length > STARTS_MAX) return undefined
  return starts.map(([fromMs, sources]) => ({ own: { fromMs, toMs: bounds.toMs }, tableRead: { ...tableRead, sources } }))
}

/** For fewer whole periods, counting events is as fast. */
const WHOLE_MIN = 4
const MS_PER_S = 1_000
/** The time at which the period of an event begins. */
const PERIOD_MS: SqlFragment = sql`(period * toInt64(period_s) * 1000)`

/**
 * Splits the events to count by pattern. The store keeps the counts of each period, so periods that lie wholly inside the range, and inside one slice if they
 * have a length, are read from there. All other events are counted one by one.
 */
export function patternScopes(tableRead: TableRead, bounds: TimeBounds, sliceMs: number | undefined): readonly CountScope[] {
  const split = startsOfStored(tableRead, bounds)?.map((start) => ({ ...start, whole: wholePeriods(start, sliceMs) }))
  if (!split?.some(({ whole }) => whole.some(({ first, end }) => end - first >= WHOLE_MIN))) return [countedByEvent(tableRead, bounds)]
  return split.flatMap(({ own, tableRead: same, whole }) => {
    if (whole.length === 0) return [countedByEvent(same, own)]
    const inWhole = or(whole.map(({ periodS, first, end }) => periodsSql(periodS, first, end)))
    const stored = {
      scope: using('storedCounts', and([oneOf(same.sources), inWhole])),
      timeMs: PERIOD_MS,
      isStored: true,
      bounds: {
        fromMs: Math.min(...whole.map(({ periodS, first }) => first * periodS * MS_PER_S)),
        toMs: Math.max(...whole.map(({ periodS, end }) => end * periodS * MS_PER_S)),
      },
    }
    const others = countedByEvent(same, own)
    return [stored, { ...others, scope: and([others.scope, not(inWhole)]) }]
  })
}

/** Numbers of periods since 1970: from `first` to `end`, exclusive. */
type Periods = { readonly periodS: number; readonly first: number; readonly end: number }

function wholePeriods({ own: { fromMs, toMs }, tableRead: { periods } }: Start, sliceMs: number | undefined): readonly Periods[] {
  return periods.flatMap((periodS): Periods[] => {
    const lengthMs = periodS * MS_PER_S
    const whole = { periodS, first: Math.ceil(fromMs / lengthMs), end: Math.floor(toMs / lengthMs) }
    const liesInSlice = sliceMs === undefined || sliceMs % lengthMs === 0
    return liesInSlice && whole.first < whole.end ? [whole] : []
  })
}

function periodsSql(periodS: number, first: number, end: number): SqlFragment {
  const [length, from, to] = [periodS, first, end].map((number) => param.int64(BigInt(number)))
  return length && from && to ? sql`(period_s = ${length} and period >= ${from} and period < ${to})` : FALSE
}

/** A read that returns rows of its own. */
type CountRead = { readonly select: SqlFragment; readonly of: Pick<CountScope, 'isStored' | 'bounds'> }

/**
 * Joins reads to one statement, or to two where results are kept: that for stored counts is the same when the range moves on a little.
 */
export function countStatements(reads: readonly CountRead[], areKept: boolean): readonly BoundedStatement[] {
  return [...Map.groupBy(reads, ({ of }) => areKept && of.isStored).values()].map((own) => ({
    statement: joined(
      own.map(({ select }) => select),
      ' union all ',
    ),
    bounds: {
      fromMs: Math.min(...own.map(({ of }) => of.bounds.fromMs)),
      toMs: Math.max(...own.map(({ of }) => of.bounds.toMs)),
    },
  }))
}
