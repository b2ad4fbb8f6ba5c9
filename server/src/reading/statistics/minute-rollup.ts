import { countedColumns } from '../../lines/layout/table.ts'
import { sliceStartMs } from '../../query/slices.ts'
import { instant } from '../fields/comparisons.ts'
import { type CountScope, countedByEvent, EVENT_MS, startsOfStored } from '../plan/count-scopes.ts'
import { MINUTE, MINUTE_MS, oneOf, scopeOf } from '../plan/read-scope.ts'
import type { TableRead } from '../plan/table-reads.ts'
import type { TimeBounds } from '../query.ts'
import { and, FALSE, inList, not, or, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'

/** For fewer whole minutes, counting events is as fast. */
const WHOLE_MIN = 30
/** Minutes that are counted event by event, at most, as a share of all. */
const MIXED_SHARE_MAX = 0.5
const SLICES_MAX = 2_000

/**
 * Splits the events to count. The store keeps the counts of each minute of all events by the values of some columns, so whole minutes are read from there when
 * `columns`, the expressions of the statement, read no others. Minutes at the borders of the time range and of slices are counted event
 * by event. Otherwise all events are. Without `columns` the statement needs more than counts.
 */
export function countScopes(
  tableRead: TableRead,
  bounds: TimeBounds,
  { slices = 1, columns }: { slices: number | undefined; columns: readonly SqlFragment[] | undefined },
): readonly CountScope[] {
  const all = [countedByEvent(tableRead, bounds)]
  const starts = columns && slices <= SLICES_MAX && areCounted(columns) ? startsOfStored(tableRead, bounds) : undefined
  if (!starts) return all
  const split = starts.map((start) => ({ ...start, minutes: minutesOf(start.own, { bounds, slices }) }))
  if (!split.every(({ minutes }) => isWorthwhile(minutes))) return all
  return split.flatMap(({ own, tableRead: same, minutes }) => {
    const { first, end, mixed } = minutes
    const { first: wholeFirst, end: wholeEnd, inner } = wholeMinutes(minutes)
    const numbers = param.int64s(mixed.map(BigInt))
    const within = [sql`${MINUTE} >= ${param.int64(BigInt(wholeFirst))}`, sql`${MINUTE} < ${param.int64(BigInt(wholeEnd))}`]
    const counted = and([oneOf(same.sources), ...within, inner.length === 0 ? TRUE : not(inList(MINUTE, numbers))])
    const minuteBounds = { fromMs: wholeFirst * MINUTE_MS, toMs: wholeEnd * MINUTE_MS }
    const whole = { scope: counted, timeMs: sql`(toInt64(${MINUTE}) * 60000)`, isStored: true, bounds: minuteBounds }
    if (mixed.length === 0) return [whole]
    // Comparing times is cheaper than computing minutes, and selects granules as well.
    const outside = or([
      wholeFirst === first ? FALSE : sql`ts < ${instant(wholeFirst * MINUTE_MS)}`,
      wholeEnd === end ? FALSE : sql`ts >= ${instant(wholeEnd * MINUTE_MS)}`,
    ])
    const parts = [
      { fromMs: own.fromMs, toMs: wholeFirst * MINUTE_MS },
      ...inner.map((minute) => ({ fromMs: minute * MINUTE_MS, toMs: (minute + 1) * MINUTE_MS })),
      { fromMs: wholeEnd * MINUTE_MS, toMs: own.toMs },
    ].filter(({ fromMs: partFromMs, toMs }) => partFromMs < toMs)
    const others = and([scopeOf(same, own, parts), inner.length === 0 ? outside : inList(MINUTE, numbers)])
    return [whole, { scope: others, timeMs: EVENT_MS, isStored: false, bounds }]
  })
}

/** Whether the expressions read only columns by which events are counted. */
const areCounted = (expressions: readonly SqlFragment[]): boolean =>
  expressions.every(({ columns }) => [...columns].every((one) => countedColumns.includes(one)))

/** Numbers of minutes since 1970: from `first` to `end`, exclusive. `mixed` are those that are partly outside or in two slices. */
type Minutes = { readonly first: number; readonly end: number; readonly mixed: readonly number[] }

export function minutesOf({ fromMs, toMs }: TimeBounds, { bounds, slices }: { bounds: TimeBounds; slices: number }): Minutes {
  const borders = [fromMs, toMs, ...Array.from({ length: slices - 1 }, (_, index) => sliceStartMs(bounds, slices, index + 1))]
  const inside = borders.filter((ms) => ms >= fromMs && ms <= toMs && ms % MINUTE_MS !== 0)
  const mixed = [...new Set(inside.map((ms) => Math.floor(ms / MINUTE_MS)))]
  return { first: Math.floor(fromMs / MINUTE_MS), end: Math.ceil(toMs / MINUTE_MS), mixed }
}

/** The minutes without those at both ends that are partly outside, and the mixed ones that are left in between. */
export function wholeMinutes({ first, end, mixed }: Minutes): Minutes & { readonly inner: readonly number[] } {
  const whole = { first: mixed.includes(first) ? first + 1 : first, end: mixed.includes(end - 1) ? end - 1 : end }
  return { ...whole, mixed, inner: mixed.filter((minute) => minute >= whole.first && minute < whole.end) }
}

const isWorthwhile = ({ first, end, mixed }: Minutes): boolean =>
  end - first - mixed.length >= WHOLE_MIN && mixed.length <= (end - first) * MIXED_SHARE_MAX
