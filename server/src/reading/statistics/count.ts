import type { Filter } from '@dendro/language/tree'
import type { EventStore } from '../../events/store/events.ts'
import { filterSql } from '../filter/filter.ts'
import { countStatements } from '../plan/count-scopes.ts'
import { prepare } from '../plan/prepare.ts'
import { filterTable } from '../plan/table-read.ts'
import { freeTextsIn, keysIn, type TableRead } from '../plan/table-reads.ts'
import type { EventQuery, QueryCost, StatsRequest, TimeBounds } from '../query.ts'
import { type BoundedStatement, costOf, runAtOnce } from '../run/run.ts'
import { areResultsKept } from '../run/statement-results.ts'
import { joined, name, sql } from '../sql/sql.ts'
import { endRead, type SliceQuery, sliceQuery, type UsedSlices, useSlices } from './aggregate-states.ts'
import { countScopes } from './minute-rollup.ts'

/** Counts the events that match a query. */
export async function countMatching(store: EventStore, query: EventQuery): Promise<{ count: number; cost: QueryCost }> {
  const { counts, cost } = await countEach(store, query, [query.filter])
  return { count: counts[0] ?? 0, cost }
}

/**
 * Counts the events that match each of several filters, in one statement. The filter of the query itself is ignored. With `sampleRows` it
 * reads only about that many events, whichever come first.
 */
export const countEach = (store: EventStore, given: EventQuery, filters: readonly Filter[], sampleRows?: number): Promise<Counts> =>
  countFilters(store, given, { filters, sampleRows, within: undefined })

/** Counts the events that match a query and each of several filters too, in one statement that has the filter of the query once. */
export const countWithin = (store: EventStore, query: EventQuery, filters: readonly Filter[]): Promise<Counts> =>
  countFilters(store, query, { filters, sampleRows: undefined, within: query.filter })

type Counts = { counts: readonly number[]; cost: QueryCost }
type Counting = { readonly filters: readonly Filter[]; readonly sampleRows: number | undefined; readonly within: Filter | undefined }

async function countFilters(store: EventStore, given: EventQuery, { filters, sampleRows, within }: Counting): Promise<Counts> {
  const all = within ? [within, ...filters] : filters
  const keys = [...new Set(all.flatMap(keysIn))]
  // For a few events, reading the overflow maps everywhere is cheap.
  const overflow = sampleRows === undefined ? 'find' : 'readEverywhere'
  const [only] = filters
  const isWhole = only && filters.length === 1 && within === undefined && sampleRows === undefined && !keys.includes('@pattern')
  let slicing: SliceQuery | undefined
  let used: UsedSlices | undefined
  const wanted = { keys, texts: all.flatMap(freeTextsIn), overflow } as const
  const counted = await prepare(store, given, wanted, async ({ queryRun, query, tableReads, startedAt }) => {
    slicing = isWhole ? sliceQuery({ store, queryRun, query: { ...query, filter: only }, request: NUMBER_OF_EVENTS, startedAt }) : undefined
    used = slicing && (await useSlices(slicing, tableReads))
    const known = used?.closed.states.counted.reduce((sum, one) => sum + Number(one), 0) ?? 0
    const statements = countsStatements(tableReads, used?.closed.open ?? [query.bounds], filters, {
      within,
      isSample: sampleRows !== undefined,
      areKept: areResultsKept(store, queryRun),
    })
    const sums = filters.map(() => known)
    // One row for each read. Adding them up in the store would take it longer than both reads take to plan.
    for (const rows of await runAtOnce(store, queryRun, statements, undefined, sampleRows)) {
      while (rows.next()) for (const index of sums.keys()) sums[index] = (sums[index] ?? 0) + Number(rows.uint64())
    }
    return { counts: sums, cost: costOf(queryRun, 1) }
  })
  endRead(slicing, used)
  return counted
}

const NUMBER_OF_EVENTS: StatsRequest = { calls: [], groups: [], slices: 1, limit: 1 }

/** None when no event can match, or there is no range. */
function countsStatements(
  tableReads: readonly TableRead[],
  ranges: readonly TimeBounds[],
  filters: readonly Filter[],
  { within, isSample, areKept }: { readonly within: Filter | undefined; readonly isSample: boolean; readonly areKept: boolean },
): readonly BoundedStatement[] {
  // Whether the filter is the only condition, so that the rows are those it selects.
  const [only] = within || filters.length > 1 ? [] : filters
  const reads = tableReads.flatMap((tableRead) => {
    const filtered = filterTable(tableRead, ...(within ? [within] : filters))
    if (!filtered) return []
    const { context, conditions, selecting, from } = filtered
    const counted = within ? filters.map((filter) => filterSql(filter, context)) : conditions
    const counts = counted.map((one) => (only ? sql`toUInt64(count())` : sql`toUInt64(countIf(${one}))`))
    const columns = joined(counts.map((count, index) => sql`${count} as ${name(`n${index}`)}`))
    const read = only && !isSample ? selecting : undefined
    const scopes = ranges.flatMap((bounds) => countScopes(tableRead, bounds, { slices: 1, columns: read }))
    return scopes.map(({ scope, ...of }) => ({ of, select: sql`select ${columns} ${from(scope)}` }))
  })
  return countStatements(reads, areKept)
}
