import type { Condition, Filter } from '@dendro/language/tree'
import type { EventStore } from '../../events/store/events.ts'
import { instant } from '../fields/comparisons.ts'
import { storedValue } from '../fields/field-text.ts'
import { filterSql } from '../filter/filter.ts'
import { findLineFacts } from '../plan/line-shapes.ts'
import { findOverflowKeys } from '../plan/overflow-keys.ts'
import { withFamilies } from '../plan/pattern-families.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { contextOf, filterTable } from '../plan/table-read.ts'
import { freeTextsIn, keysIn, type TableRead, tableReadsFor, withFacts } from '../plan/table-reads.ts'
import type { EventQuery, PresentPattern, QueryCost, TimeBounds } from '../query.ts'
import { undefinedIfTooMany } from '../run/failure.ts'
import { costOf, run, startQueryRun } from '../run/run.ts'
import { and, digits, FALSE, joined, name, or, param, type SqlFragment, sql } from '../sql/sql.ts'
import { textAsNumber, textOf } from '../statistics/aggregates.ts'

/** Two time ranges to compare. An event in both belongs to `now` only. */
export type ComparedBounds = { readonly now: TimeBounds; readonly before: TimeBounds }

/** A key whose values are counted in both ranges. Numbers are counted from one edge to the next. */
export type ComparedKey = { readonly key: string; readonly edges?: readonly number[] }

/** The events of both ranges with a value; null stands for events without the key. For numbers the value is the lower edge. */
export type RangeValue = { readonly value: string | null; readonly now: number; readonly before: number }

/** The events of both ranges with a pattern, 0 for none, and the newest of them. */
export type PatternCounts = {
  readonly logId: string
  readonly pattern: bigint
  readonly now: number
  readonly before: number
  readonly newest: bigint
}

/** The events of both ranges that meet some conditions, those whose bits are set, and none of the others. */
export type Overlap = { readonly bits: number; readonly now: number; readonly before: number }

export type RangeComparison = {
  patterns(): Promise<readonly PatternCounts[]>
  /** The families of patterns, by dataset and pattern. */
  families(counts: readonly PatternCounts[]): Promise<Families>
  /**
   * The values of each key whose counts differ most, and the number of events without it. Given a share, only about that share of the events
   * is counted, in slices of both ranges.
   */
  values(keys: readonly ComparedKey[], totals: RangeTotals, share?: number): Promise<ReadonlyMap<string, readonly RangeValue[]>>
  /** About how many values each key has. */
  distinct(keys: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * Counts the events by the conditions that they meet, of at most 31; the first condition is the lowest bit. Patterns have the families that
   * were asked for. Undefined when the conditions are met in too many combinations.
   */
  overlaps(conditions: readonly Condition[]): Promise<readonly Overlap[] | undefined>
  cost(): QueryCost
}

/** The number of events in both ranges. */
export type RangeTotals = { readonly now: number; readonly before: number }

const PATTERNS_MAX = 1_000_000
const GROUPS_MAX = 1_000_000
const OVERLAPS_MAX = 20_000
/** How many values of a key are returned. */
const VALUES_MAX = 100
/** The slices of each range that are counted for a share of the events. */
const SLICES = 8

/**
 * Opens a comparison of the events of two ranges that match a query. Its statements share one budget; the bounds of the query are ignored. Given
 * `selected`, the events of both ranges that match it stand for those of the range, and the others for those of the baseline.
 */
export async function openComparison(
  store: EventStore,
  given: EventQuery,
  bounds: ComparedBounds,
  selected?: Filter,
): Promise<RangeComparison> {
  const queryRun = startQueryRun(given)
  const filterKeys = [...new Set([...keysIn(given.filter), ...(selected ? keysIn(selected) : [])])]
  const isNow: SideOf = (tableRead) => (selected ? filterSql(selected, contextOf(tableRead)) : within(bounds.now))
  const whole = combinedRange(bounds)
  const query = await withFamilies(store, queryRun, { ...given, bounds: whole }, filterKeys)
  const parts: readonly TimeBounds[] = isGapless(bounds) ? [whole] : [bounds.now, bounds.before]

  const known: { keys: ReadonlySet<string>; mark: Promise<(tableRead: TableRead) => TableRead> | undefined } = {
    keys: new Set(),
    mark: undefined,
  }

  /** Marks in a table which of the keys events of either range have in the overflow map. A part of the keys of the last call costs nothing. */
  function overflowIn(keys: readonly string[]): Promise<(tableRead: TableRead) => TableRead> {
    if (known.mark && keys.every((key) => known.keys.has(key))) return known.mark
    known.keys = new Set(keys)
    known.mark = readOverflow(keys)
    return known.mark
  }

  async function readOverflow(keys: readonly string[]): Promise<(tableRead: TableRead) => TableRead> {
    const byTable = new Map<string, ((path: string) => boolean)[]>()
    for (const one of parts) {
      const tables = tableReadsFor(query.sources, [])
      const facts = await findOverflowKeys(store, queryRun, tables, { keys: [...filterKeys, ...keys], bounds: one })
      for (const { table, slots } of tables.map((tableRead, index) => withFacts(tableRead, facts[index]))) {
        byTable.set(table, [...(byTable.get(table) ?? []), slots.mayOverflow])
      }
    }
    return (tableRead) => {
      const tests = byTable.get(tableRead.table) ?? []
      return { ...tableRead, slots: { ...tableRead.slots, mayOverflow: (path) => tests.some((test) => test(path)) } }
    }
  }

  async function shapedFor(keys: readonly string[]): Promise<readonly TableRead[]> {
    const tables = tableReadsFor(query.sources, [...filterKeys, ...keys])
    if (!filterKeys.includes('@raw')) return tables
    const facts = await findLineFacts(store, queryRun, tables, { bounds: whole, texts: freeTextsIn(query.filter) })
    return tables.map((tableRead, index) => withFacts(tableRead, facts[index]))
  }

  const scoped = (tableRead: TableRead): SqlFragment | undefined => matching(query, tableRead, bounds)
  let knownFamilies: Families = new Map()
  const isOneDataset = query.sources.length === 1

  const rowsOf = (statement: SqlFragment, keys: readonly string[]) =>
    run(store, queryRun, statement, { groupsMax: GROUPS_MAX, groups: keys })

  return {
    async patterns() {
      const overflow = await overflowIn([])
      const selects = (await shapedFor([])).map(overflow).flatMap((tableRead): SqlFragment[] => {
        const where = scoped(tableRead)
        return where === undefined
          ? []
          : [
              sql`select ${isOneDataset ? sql`${param.text(query.sources[0]?.logId ?? '')}` : sql`toString(log_id)`} as log, skeleton,
                  toUInt64(countIf(${isNow(tableRead)})), toUInt64(count()), max(seq)
                ${where} group by ${isOneDataset ? sql`skeleton` : sql`log_id, skeleton`}`,
            ]
      })
      if (selects.length === 0) return []
      const rows = await run(store, queryRun, joined(selects, ' union all '), { groupsMax: PATTERNS_MAX, groups: ['@pattern'] })
      const found: PatternCounts[] = []
      while (rows.next()) {
        const [logId, pattern, now, all] = [rows.text(), rows.uint64(), Number(rows.uint64()), Number(rows.uint64())]
        found.push({ logId, pattern, now, before: all - now, newest: rows.uint64() })
      }
      return found
    },

    async families(counts) {
      if (!query.families) return new Map()
      const present = new Map<string, Map<bigint, PresentPattern>>()
      for (const { logId, pattern, now, before, newest } of counts) {
        if (pattern === 0n) continue
        const own = present.get(logId) ?? new Map<bigint, PresentPattern>()
        const known = own.get(pattern)
        const seq = known && known.seq > newest ? known.seq : newest
        present.set(logId, own.set(pattern, { count: (known?.count ?? 0) + now + before, seq }))
      }
      knownFamilies = await query.families.of(store, query, present)
      return knownFamilies
    },

    async values(keys, totals, share = 1) {
      const scoped = (tableRead: TableRead) => matching(query, tableRead, bounds, share < 1 ? slicesOf(bounds, share) : undefined)
      const counts = new Map<string, RangeValue[]>(keys.map(({ key }) => [key, []]))
      if (keys.length === 0) return counts
      const overflow = await overflowIn(keys.map(({ key }) => key))
      // A filter on the line is expensive, so it is evaluated once for all keys.
      const isOnLine = filterKeys.includes('@raw')
      const selects = isOnLine
        ? (await shapedFor(keys.map(({ key }) => key))).map(overflow).flatMap((tableRead) => pairsSql(tableRead, keys, isNow, scoped))
        : keys.flatMap((key, number) =>
            tableReadsFor(query.sources, [...filterKeys, key.key])
              .map(overflow)
              .flatMap((tableRead) => keySql(tableRead, key, { number, isNow, scoped })),
          )
      if (selects.length === 0) return counts
      const [now, before] = [param.float(totals.now), param.float(totals.before)]
      const rows = await rowsOf(
        sql`select number, value, toUInt64(current), toUInt64(previous) from (
            select number, value, sum(a) as current, sum(b) as previous from (${joined(selects, ' union all ')}) group by number, value)
          order by number, value = '' desc, pow(current * ${before} - previous * ${now}, 2) / (current + previous) desc, value
          limit ${digits(VALUES_MAX)} by number`,
        keys.map(({ key }) => key),
      )
      while (rows.next()) {
        const [number, value] = [Number(rows.uint64()), storedValue(rows.text())]
        counts.get(keys[number]?.key ?? '')?.push({ value, now: Number(rows.uint64()), before: Number(rows.uint64()) })
      }
      return counts
    },

    async distinct(keys) {
      const overflow = await overflowIn(keys)
      const selects = (await shapedFor(keys)).map(overflow).flatMap((tableRead): SqlFragment[] => {
        const where = scoped(tableRead)
        const texts = keys.map((key, number) => sql`uniqCombinedState(${textOf(key, contextOf(tableRead))}) as ${name(`u${number}`)}`)
        return where === undefined ? [] : [sql`select ${joined(texts)} ${where}`]
      })
      if (selects.length === 0) return new Map()
      const merged = keys.map((_, number) => sql`toUInt64(uniqCombinedMerge(${name(`u${number}`)}))`)
      const rows = await run(store, queryRun, sql`select ${joined(merged)} from (${joined(selects, ' union all ')})`)
      return new Map(keys.map((key) => [key, Number(rows.uint64())]))
    },

    async overlaps(conditions) {
      const keys = [...new Set(conditions.flatMap(keysIn))]
      const overflow = await overflowIn(keys)
      const shaped = filterKeys.includes('@raw') ? await shapedFor(keys) : tableReadsFor(query.sources, [...filterKeys, ...keys])
      const selects = shaped
        .map((tableRead) => overflow(inFamilies(tableRead, knownFamilies)))
        .flatMap((tableRead): SqlFragment[] => {
          const where = scoped(tableRead)
          const bits = conditions.map((one, at) => sql`toUInt32(${filterSql(one, contextOf(tableRead))}) * ${digits(2 ** at)}`)
          return where === undefined
            ? []
            : [sql`select toUInt64(${summed(bits)}) as bits, countIf(${isNow(tableRead)}) as a, count() - a as b ${where} group by bits`]
        })
      if (selects.length === 0) return []
      const statement = sql`select bits, toUInt64(sum(a)), toUInt64(sum(b)) from (${joined(selects, ' union all ')}) group by bits`
      const rows = await run(store, queryRun, statement, { groupsMax: OVERLAPS_MAX, groups: keys }).catch(undefinedIfTooMany)
      if (!rows) return undefined
      const counts: Overlap[] = []
      while (rows.next()) counts.push({ bits: Number(rows.uint64()), now: Number(rows.uint64()), before: Number(rows.uint64()) })
      return counts
    },

    cost: () => costOf(queryRun, 1),
  }
}

type Families = ReadonlyMap<string, ReadonlyMap<bigint, bigint>>

const inFamilies = (tableRead: TableRead, families: Families): TableRead => ({
  ...tableRead,
  sources: tableRead.sources.map((source) => {
    const own = families.get(source.logId)
    return own && own.size > 0 ? { ...source, families: own } : source
  }),
})

const summed = (pieces: readonly SqlFragment[]): SqlFragment => pieces.reduce((sum, one) => sql`${sum} + ${one}`)

/** The range from the earlier start to the later end. */
export const combinedRange = ({ now, before }: ComparedBounds): TimeBounds => ({
  fromMs: Math.min(now.fromMs, before.fromMs),
  toMs: Math.max(now.toMs, before.toMs),
})

const isGapless = ({ now, before }: ComparedBounds): boolean => now.fromMs <= before.toMs && before.fromMs <= now.toMs

const within = ({ fromMs, toMs }: TimeBounds): SqlFragment => and([sql`ts >= ${instant(fromMs)}`, sql`ts < ${instant(toMs)}`])

/** Slices of both ranges, evenly spread, that make up a share of them. */
const slicesOf = ({ now, before }: ComparedBounds, share: number): readonly TimeBounds[] =>
  [now, before].flatMap(({ fromMs, toMs }) =>
    Array.from({ length: SLICES }, (_, at) => {
      const startMs = fromMs + Math.floor(((toMs - fromMs) * at) / SLICES)
      return { fromMs: startMs, toMs: Math.min(toMs, startMs + Math.max(1, Math.ceil(((toMs - fromMs) * share) / SLICES))) }
    }),
  )

/** The condition for matching events of either range, or of slices of them. Undefined when no event can match. */
function matching(
  { filter }: EventQuery,
  tableRead: TableRead,
  bounds: ComparedBounds,
  slices?: readonly TimeBounds[],
): SqlFragment | undefined {
  const filtered = filterTable(tableRead, filter)
  const parts = slices ?? (isGapless(bounds) ? [] : [bounds.now, bounds.before])
  const whole = scopeOf(tableRead, combinedRange(bounds), parts)
  if (!filtered || whole === FALSE) return undefined
  const scope = parts.length === 0 ? whole : and([whole, or(parts.map(within))])
  return filtered.from(scope)
}

type Scoped = (tableRead: TableRead) => SqlFragment | undefined
/** The condition on the events that count for the range. */
type SideOf = (tableRead: TableRead) => SqlFragment

/** The text of a key, or the lower edge of its number. '' where it is absent. */
function comparedText({ key, edges }: ComparedKey, tableRead: TableRead): SqlFragment {
  const text = textOf(key, contextOf(tableRead))
  if (edges === undefined) return text
  return sql`if(${text} = '', '', ifNull(toString(roundDown(${textAsNumber(text)}, ${param.floats(edges)})), ${param.text(NO_NUMBER)}))`
}

/** The value of texts that are no numbers, where numbers are compared. */
export const NO_NUMBER = 'no number'

/** Counts the values of one key. */
function keySql(
  tableRead: TableRead,
  key: ComparedKey,
  { number, isNow, scoped }: { number: number; isNow: SideOf; scoped: Scoped },
): SqlFragment[] {
  const where = scoped(tableRead)
  if (where === undefined) return []
  return [
    sql`select toUInt64(${digits(number)}) as number, toString(text) as value, a, b from (
      select materialize(${comparedText(key, tableRead)}) as text, countIf(${isNow(tableRead)}) as a, count() - a as b
      ${where} group by text)`,
  ]
}

/** Counts the values of all keys in one pass over the events. */
function pairsSql(tableRead: TableRead, keys: readonly ComparedKey[], isNow: SideOf, scoped: Scoped): SqlFragment[] {
  const where = scoped(tableRead)
  if (where === undefined) return []
  const pairs = keys.map((key, number) => sql`(toUInt64(${digits(number)}), toString(${comparedText(key, tableRead)}))`)
  return [
    sql`select pair.1 as number, pair.2 as value, countIf(is_now) as a, count() - a as b from (
      select ${isNow(tableRead)} as is_now, arrayJoin([${joined(pairs)}]) as pair ${where}) group by number, value`,
  ]
}

/** The keys that some dataset has in a column. */
export const columnKeys = ({ sources }: Pick<EventQuery, 'sources'>): readonly string[] => [
  ...new Set(sources.flatMap(({ located }) => (located ? [...located.map.slots.keys()] : []))),
]
