import type { EventStore } from '../../events/store/events.ts'
import { scopeOf } from '../plan/read-scope.ts'
import { tableReadsFor } from '../plan/table-reads.ts'
import type { EventQuery, QueryCost } from '../query.ts'
import { costOf, run, startQueryRun } from '../run/run.ts'
import { and, digits, joined, name, param, type SqlFragment, sql, TRUE } from '../sql/sql.ts'

/** An event, identified by number, dataset and time. */
export type EventNumber = { readonly logId: string; readonly seq: bigint; readonly timeNs: bigint }

/**
 * Selects numbers above `after`, up to a limit. `oneOf` is a power of two and samples one of so many: the same ones each time, and a
 * superset of the sample of every greater one.
 */
export type NumbersRequest = { readonly after: bigint; readonly oneOf: number; readonly limit: number }

/** Selects the lowest numbers of a range, both ends of which are known: above `after` and below `before`. */
export type NumbersInOrder = { readonly after: bigint; readonly before: bigint; readonly limit: number }

type ReadNumbers = { readonly found: EventNumber[]; readonly hasMore: boolean; readonly cost: QueryCost }

/** Returns the lowest numbers of a range in rising order. It ignores the filter of the query. */
export const readNumbersInOrder = (store: EventStore, query: EventQuery, { after, before, limit }: NumbersInOrder): Promise<ReadNumbers> =>
  numbersOf(store, query, between(after, before), { limit, inOrder: true })

/** Returns the numbers of the events, unordered. It ignores the filter of the query and reads no other column. */
export const readNumbers = (store: EventStore, query: EventQuery, { after, oneOf, limit }: NumbersRequest): Promise<ReadNumbers> => {
  const isSampled = oneOf === 1 ? TRUE : sql`intHash32(seq) % ${digits(oneOf)} = 0`
  return numbersOf(store, query, and([sql`seq > ${param.uint64(after)}`, isSampled]), { limit, inOrder: false })
}

async function numbersOf(
  store: EventStore,
  query: EventQuery,
  condition: SqlFragment,
  { limit, inOrder }: { readonly limit: number; readonly inOrder: boolean },
): Promise<ReadNumbers> {
  const queryRun = startQueryRun(query)
  const ids = query.sources.map(({ logId }) => logId)
  const datasets = param.uuids(ids)
  const limited = inOrder ? sql`order by seq limit ${digits(limit + 1)}` : sql`limit ${digits(limit + 1)}`
  const parts = tableReadsFor(query.sources, []).map((tableRead) => {
    const read = sql`select toUInt64(indexOf(${datasets}, log_id)) as source, seq, toUnixTimestamp64Nano(ts) as ns
      from ${name(tableRead.table)} where ${and([scopeOf(tableRead, query.bounds), condition])} ${limited}`
    return inOrder ? sql`select * from (${read})` : read
  })
  const found: EventNumber[] = []
  if (parts.length === 0) return { found, hasMore: false, cost: costOf(queryRun, 1) }
  const rows = await run(store, queryRun, sql`select source, seq, ns from (${joined(parts, ' union all ')}) ${limited}`)
  while (rows.next()) {
    const logId = ids[Number(rows.uint64()) - 1] ?? ''
    found.push({ logId, seq: rows.uint64(), timeNs: rows.int64() })
  }
  return { found: found.slice(0, limit), hasMore: found.length > limit, cost: costOf(queryRun, 1) }
}

/** Counts the events of a range of numbers, and returns the lowest number. It ignores the filter of the query. */
export async function countNumbers(
  store: EventStore,
  query: EventQuery,
  { after, before }: Pick<NumbersInOrder, 'after' | 'before'>,
): Promise<{ count: number; lowest: bigint | undefined }> {
  const parts = tableReadsFor(query.sources, []).map(
    (tableRead) => sql`select toUInt64(count()) as events, min(seq) as first
      from ${name(tableRead.table)} where ${and([scopeOf(tableRead, query.bounds), between(after, before)])}`,
  )
  if (parts.length === 0) return { count: 0, lowest: undefined }
  const whole = sql`select toUInt64(sum(events)) as n, minIf(first, events > 0) as lowest from (${joined(parts, ' union all ')})`
  const rows = await run(store, startQueryRun(query), whole)
  if (!rows.next()) return { count: 0, lowest: undefined }
  const count = Number(rows.uint64())
  const lowest = rows.uint64()
  return { count, lowest: count === 0 ? undefined : lowest }
}

const between = (after: bigint, before: bigint) => sql`seq > ${param.uint64(after)} and seq < ${param.uint64(before)}`
