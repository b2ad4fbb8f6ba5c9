import type { EventStore } from '../../events/store/events.ts'
import type { EventQuery, PresentPattern, PresentPatterns, TimeBounds } from '../query.ts'
import { undefinedIfTooMany } from '../run/failure.ts'
import {
  findSlices,
  keepSlices,
  noteQuery,
  noteTooLarge,
  type SliceRow,
  type SliceValue,
  type Slicing,
  slicingOf,
} from '../run/query-slices.ts'
import { type QueryRun, runAtOnce } from '../run/run.ts'
import { areResultsKept } from '../run/statement-results.ts'
import { rangesOf } from '../run/time-slices.ts'
import { name, param, type SqlFragment, sql } from '../sql/sql.ts'
import { countStatements, patternScopes } from './count-scopes.ts'
import { tableReadsFor } from './table-reads.ts'

/** The maximum number of patterns that one query compares. */
const PATTERNS_MAX = 1_000_000
/** Counts of patterns in slices that are kept for one query, at most. */
const ROWS_MAX = 20_000

/** The events of one pattern of a dataset in one slice. */
type PatternCount = CountedPattern & { readonly slice: number }

/** Events of one pattern of a dataset. */
type CountedPattern = PresentPattern & { readonly log: string; readonly pattern: bigint }

/**
 * Counts the events of each pattern in the range of a query, by dataset. The filter is ignored. When it is asked again, closed slices are not read
 * again: a pattern stays the same, whatever family it gets.
 */
export async function presentPatterns(store: EventStore, queryRun: QueryRun, query: EventQuery): Promise<PresentPatterns> {
  const places = query.sources.map(({ logId, required }) => [logId, required])
  const slicing = slicingOf({ store, queryRun, query, startedAt: store.caches.now() }, 1, ['patterns', places])
  const sliced = slicing && (await countsInSlices(slicing))
  if (sliced) return byPattern(sliced)
  const before = queryRun.rows - queryRun.storedRows
  const all = await countsIn({ store, queryRun, query }, [query.bounds])
  // Stored counts are kept by their statement.
  if (slicing) noteQuery(slicing, queryRun.rows - queryRun.storedRows - before)
  return byPattern(all)
}

/** Undefined when the query is new, or has too many patterns in its slices. */
async function countsInSlices(slicing: Slicing): Promise<readonly PatternCount[] | undefined> {
  const found = findSlices(slicing)
  if (!found) return undefined
  const { known, missing, open } = found
  const { lengthMs } = slicing
  const kept = [...known.values()].flatMap(({ rows }) => rows.map(countOf))
  const [fresh, rest] = await Promise.all([
    countsIn(slicing, rangesOf(missing, lengthMs), { lengthMs, groupsMax: ROWS_MAX }).catch(undefinedIfTooMany),
    countsIn(slicing, open),
  ])
  if (!fresh || kept.length + fresh.length > ROWS_MAX) {
    noteTooLarge(slicing)
    return undefined
  }
  keepSlices(slicing, slicesOf(fresh, missing))
  return [...kept, ...fresh, ...rest]
}

/** Counts in some ranges, by slice if a length is given. */
async function countsIn(
  { store, queryRun, query }: Pick<Slicing, 'store' | 'queryRun' | 'query'>,
  ranges: readonly TimeBounds[],
  { lengthMs, groupsMax = PATTERNS_MAX }: { readonly lengthMs?: number; readonly groupsMax?: number } = {},
): Promise<readonly PatternCount[]> {
  const sliceOf = (timeMs: SqlFragment): SqlFragment =>
    lengthMs === undefined ? sql`toUInt64(0)` : sql`toUInt64(intDiv(${timeMs}, ${param.int64(BigInt(lengthMs))}))`
  const reads = ranges.flatMap((bounds) =>
    tableReadsFor(query.sources, []).flatMap((tableRead) =>
      patternScopes(tableRead, bounds, lengthMs).map(({ scope, timeMs, ...of }) => ({
        of,
        select: sql`
        select ${sliceOf(timeMs)} as slice, toString(log_id) as log, skeleton, toUInt64(count()) as number, max(seq) as newest
        from ${name(tableRead.table)}
        where ${scope} and skeleton != 0 group by slice, log_id, skeleton`,
      })),
    ),
  )
  const counts: PatternCount[] = []
  const groupLimit = { groupsMax, groups: ['@pattern'] }
  for (const rows of await runAtOnce(store, queryRun, countStatements(reads, areResultsKept(store, queryRun)), groupLimit)) {
    while (rows.next()) {
      const [number, log, pattern, count, seq] = [Number(rows.uint64()), rows.text(), rows.uint64(), Number(rows.uint64()), rows.uint64()]
      counts.push({ slice: number, log, pattern, count, seq })
    }
  }
  return counts
}

/** Slices without patterns have no rows. */
function slicesOf(counts: readonly PatternCount[], numbers: readonly number[]): ReadonlyMap<number, SliceValue> {
  const bySlice = Map.groupBy(counts, ({ slice }) => slice)
  return new Map(numbers.map((number) => [number, { rows: (bySlice.get(number) ?? []).map(rowOf), types: [] }]))
}

const rowOf = ({ log, pattern, count, seq }: PatternCount): SliceRow => ({
  group: `${log} ${pattern}`,
  counted: BigInt(count),
  states: [String(seq)],
})

function countOf({ group, counted, states: [seq = '0'] }: SliceRow): PatternCount {
  const [log = '', pattern = '0'] = group.split(' ')
  return { slice: 0, log, pattern: BigInt(pattern), count: Number(counted), seq: BigInt(seq) }
}

/** Adds up the events of each pattern, and keeps the sequence number of the newest. */
export function byPattern(counts: readonly CountedPattern[]): PresentPatterns {
  const found = new Map<string, Map<bigint, PresentPattern>>()
  for (const { log, pattern, count, seq } of counts) {
    const own = found.get(log) ?? new Map<bigint, PresentPattern>()
    const known = own.get(pattern)
    own.set(pattern, { count: (known?.count ?? 0) + count, seq: known && known.seq > seq ? known.seq : seq })
    found.set(log, own)
  }
  return found
}
