import type { Filter } from '@dendro/language/tree'
import type { EventStore } from '../../events/store/events.ts'
import { endRead, sliceQuery, type UsedSlices, useSlices } from '../cache/aggregate-states.ts'
import { areResultsKept } from '../cache/statement-results.ts'
import { contextOf, whereOf } from '../events/events-statement.ts'
import { filterSql } from '../filter/filter.ts'
import { hintsOf, NO_HINTS } from '../filter/skip-indexes.ts'
import { withFamilies } from '../patterns/pattern-families.ts'
import { readWithFacts } from '../plan/table-facts.ts'
import { freeTextsIn, keysIn, type QueryBranch } from '../plan/table-reads.ts'
import type { EventQuery, QueryCost, StatsRequest, TimeBounds } from '../query.ts'
import { costOf, runAtOnce, startQueryRun } from '../run/run.ts'
import { FALSE, joined, name, or, sql } from '../sql/sql.ts'
import { type BoundedStatement, countScopes, countStatements } from './minute-rollup.ts'

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
  const queryRun = startQueryRun(given)
  const all = within ? [within, ...filters] : filters
  const keys = [...new Set(all.flatMap(keysIn))]
  const query = await withFamilies(store, queryRun, given, keys)
  // For a few events, reading the overflow maps everywhere is cheap.
  const { sources, bounds, sharing } = query
  const wanted = { sources, keys, bounds, wantsOverflow: sampleRows === undefined, sharing, texts: all.flatMap(freeTextsIn) }
  const [only] = filters
  const isWhole = only && filters.length === 1 && within === undefined && sampleRows === undefined && !keys.includes('@pattern')
  const slicing = isWhole ? sliceQuery({ store, queryRun, query: { ...query, filter: only }, request: NUMBER_OF_EVENTS }) : undefined
  let used: UsedSlices | undefined
  const counts = await readWithFacts(store, queryRun, wanted, async (branches) => {
    used = slicing && (await useSlices(slicing, branches))
    const known = used?.closed.states.counted.reduce((sum, one) => sum + Number(one), 0) ?? 0
    const statements = countsStatements(branches, used?.closed.open ?? [query.bounds], filters, {
      within,
      isSample: sampleRows !== undefined,
      areKept: areResultsKept(store, queryRun),
    })
    const sums = filters.map(() => known)
    // One row for each read. Adding them up in the store would take it longer than both reads take to plan.
    for (const rows of await runAtOnce(store, queryRun, statements, undefined, sampleRows)) {
      while (rows.next()) for (const index of sums.keys()) sums[index] = (sums[index] ?? 0) + Number(rows.uint64())
    }
    return sums
  })
  endRead(slicing, used)
  return { counts, cost: costOf(queryRun, 1) }
}

const NUMBER_OF_EVENTS: StatsRequest = { calls: [], groups: [], slices: 1, limit: 1 }

/** None when no event can match, or there is no range. */
function countsStatements(
  branches: readonly QueryBranch[],
  ranges: readonly TimeBounds[],
  filters: readonly Filter[],
  { within, isSample, areKept }: { readonly within: Filter | undefined; readonly isSample: boolean; readonly areKept: boolean },
): readonly BoundedStatement[] {
  // Whether the filter is the only condition, so that the rows are those it selects.
  const [only] = within || filters.length > 1 ? [] : filters
  const reads = branches.flatMap((branch) => {
    const context = contextOf(branch)
    const met = filters.map((filter) => filterSql(filter, context))
    const any = within ? filterSql(within, context) : or(met)
    if (any === FALSE) return []
    const selecting = within ?? only
    const hints = selecting ? hintsOf(selecting, { tableClass: branch.tableClass, ...context }) : NO_HINTS
    const counts = met.map((one) => (only ? sql`toUInt64(count())` : sql`toUInt64(countIf(${one}))`))
    const columns = joined(counts.map((count, index) => sql`${count} as ${name(`n${index}`)}`))
    const table = name(branch.table)
    const read = only && !isSample ? [any, ...hints.conditions] : undefined
    const scopes = ranges.flatMap((bounds) => countScopes(branch, bounds, { slices: 1, columns: read }))
    return scopes.map(({ scope, ...of }) => ({ of, select: sql`select ${columns} from ${table} ${whereOf(any, hints)(scope)}` }))
  })
  return countStatements(reads, areKept)
}
