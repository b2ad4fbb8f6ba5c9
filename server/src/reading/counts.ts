import type { Filter } from '@dendro/language/tree'
import type { EventStore } from '../events/store/events.ts'
import { readWithFacts } from './branch-facts.ts'
import { freeTextsIn, keysIn, type QueryBranch } from './branches.ts'
import { filterSql } from './condition.ts'
import type { EventQuery, QueryCost, StatsRequest, TimeBounds } from './event-query.ts'
import { contextOf, whereOf } from './events-statement.ts'
import { hintsOf, NO_HINTS } from './hints.ts'
import { areResultsKept } from './kept-results.ts'
import { type BoundedStatement, countScopes, countStatements } from './minute-counts.ts'
import { withFamilies } from './pattern-families.ts'
import { costOf, runAtOnce, startQueryRun } from './run.ts'
import { endRead, sliceQuery, type UsedSlices, useSlices } from './slice-states.ts'
import { FALSE, joined, name, or, sql } from './statement.ts'

/** Counts the events that match a query. */
export async function countMatching(store: EventStore, query: EventQuery): Promise<{ count: number; cost: QueryCost }> {
  const { counts, cost } = await countEach(store, query, [query.filter])
  return { count: counts[0] ?? 0, cost }
}

/**
 * Counts the events that match each of several filters, in one statement. The filter of the query itself is ignored. With `sampleRows` it
 * reads only about that many events, whichever come first.
 */
export async function countEach(
  store: EventStore,
  given: EventQuery,
  filters: readonly Filter[],
  sampleRows?: number,
): Promise<{ counts: readonly number[]; cost: QueryCost }> {
  const queryRun = startQueryRun(given)
  const keys = [...new Set(filters.flatMap(keysIn))]
  const query = await withFamilies(store, queryRun, given, keys)
  // For a few events, reading the overflow maps everywhere is cheap.
  const { sources, bounds, sharing } = query
  const wanted = { sources, keys, bounds, wantsOverflow: sampleRows === undefined, sharing, texts: filters.flatMap(freeTextsIn) }
  const [only] = filters
  const isWhole = only && filters.length === 1 && sampleRows === undefined && !keys.includes('@pattern')
  const slicing = isWhole ? sliceQuery({ store, queryRun, query: { ...query, filter: only }, request: NUMBER_OF_EVENTS }) : undefined
  let used: UsedSlices | undefined
  const counts = await readWithFacts(store, queryRun, wanted, async (branches) => {
    used = slicing && (await useSlices(slicing, branches))
    const known = used?.closed.states.counted.reduce((sum, one) => sum + Number(one), 0) ?? 0
    const statements = countsStatements(branches, used?.closed.open ?? [query.bounds], filters, {
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
  { isSample, areKept }: { readonly isSample: boolean; readonly areKept: boolean },
): readonly BoundedStatement[] {
  const reads = branches.flatMap((branch) => {
    const met = filters.map((filter) => filterSql(filter, contextOf(branch)))
    const any = or(met)
    if (any === FALSE) return []
    const [only] = filters
    const hints = only && filters.length === 1 ? hintsOf(only, { tableClass: branch.tableClass, ...contextOf(branch) }) : NO_HINTS
    const counts = met.map((one) => (filters.length === 1 ? sql`toUInt64(count())` : sql`toUInt64(countIf(${one}))`))
    const columns = joined(counts.map((count, index) => sql`${count} as ${name(`n${index}`)}`))
    const table = name(branch.table)
    const read = filters.length === 1 && !isSample ? [any, ...hints.conditions] : undefined
    const scopes = ranges.flatMap((bounds) => countScopes(branch, bounds, { slices: 1, columns: read }))
    return scopes.map(({ scope, ...of }) => ({ of, select: sql`select ${columns} from ${table} ${whereOf(any, hints)(scope)}` }))
  })
  return countStatements(reads, areKept)
}
