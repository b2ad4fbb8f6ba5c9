import type { EventStore } from '../../events/store/events.ts'
import { branchesOf } from '../plan/table-reads.ts'
import type { EventQuery, QueryCost } from '../query.ts'
import { costOf, run, startQueryRun } from '../run/run.ts'
import { and, digits, joined, name, param, sql, TRUE } from '../sql/sql.ts'
import { scopeOf } from './events-statement.ts'

/** An event, identified by number, dataset and time. */
export type EventNumber = { readonly logId: string; readonly seq: bigint; readonly timeNs: bigint }

/**
 * Selects numbers above `after`, up to a limit. `oneOf` is a power of two and samples one of so many: the same ones each time, and a
 * superset of the sample of every greater one.
 */
export type NumbersRequest = { readonly after: bigint; readonly oneOf: number; readonly limit: number }

/** Selects the lowest numbers of a range, both ends of which are known: above `after` and below `before`. */
export type NumbersInOrder = { readonly after: bigint; readonly before: bigint; readonly limit: number }

/** Returns the lowest numbers of a range in rising order. It ignores the filter of the query. */
export async function readNumbersInOrder(
  store: EventStore,
  query: EventQuery,
  { after, before, limit }: NumbersInOrder,
): Promise<{ found: EventNumber[]; hasMore: boolean }> {
  const queryRun = startQueryRun(query)
  const ids = query.sources.map(({ logId }) => logId)
  const among = param.uuids(ids)
  const inOrder = sql`order by seq limit ${digits(limit + 1)}`
  const parts = branchesOf(query.sources, []).map(
    (branch) => sql`select * from (select toUInt64(indexOf(${among}, log_id)) as source, seq, toUnixTimestamp64Nano(ts) as ns
      from ${name(branch.table)} where ${and([scopeOf(branch, query.bounds), between(after, before)])} ${inOrder})`,
  )
  if (parts.length === 0) return { found: [], hasMore: false }
  const rows = await run(store, queryRun, sql`select source, seq, ns from (${joined(parts, ' union all ')}) ${inOrder}`)
  const found: EventNumber[] = []
  while (rows.next()) {
    const logId = ids[Number(rows.uint64()) - 1] ?? ''
    found.push({ logId, seq: rows.uint64(), timeNs: rows.int64() })
  }
  return { found: found.slice(0, limit), hasMore: found.length > limit }
}

/** Counts the events of a range of numbers, and returns the lowest number. It ignores the filter of the query. */
export async function countNumbers(
  store: EventStore,
  query: EventQuery,
  { after, before }: Pick<NumbersInOrder, 'after' | 'before'>,
): Promise<{ count: number; lowest: bigint | undefined }> {
  const parts = branchesOf(query.sources, []).map(
    (branch) => sql`select toUInt64(count()) as events, min(seq) as first
      from ${name(branch.table)} where ${and([scopeOf(branch, query.bounds), between(after, before)])}`,
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

/** Returns the numbers of the events, unordered. It ignores the filter of the query and reads no other column. */
export async function readNumbers(
  store: EventStore,
  question: EventQuery,
  { after, oneOf, limit }: NumbersRequest,
): Promise<{ found: EventNumber[]; hasMore: boolean; cost: QueryCost }> {
  const asking = startQueryRun(question)
  const ids = question.sources.map(({ logId }) => logId)
  const among = param.uuids(ids)
  const parts = branchesOf(question.sources, []).map(
    (branch) => sql`select toUInt64(indexOf(${among}, log_id)) as source, seq, toUnixTimestamp64Nano(ts) as ns
      from ${name(branch.table)}
      where ${and([
        scopeOf(branch, question.bounds),
        sql`seq > ${param.uint64(after)}`,
        oneOf === 1 ? TRUE : sql`intHash32(seq) % ${digits(oneOf)} = 0`,
      ])} limit ${digits(limit + 1)}`,
  )
  if (parts.length === 0) return { found: [], hasMore: false, cost: costOf(asking, 1) }
  const rows = await run(store, asking, sql`select source, seq, ns from (${joined(parts, ' union all ')}) limit ${digits(limit + 1)}`)
  const found: EventNumber[] = []
  while (rows.next()) {
    const logId = ids[Number(rows.uint64()) - 1] ?? ''
    found.push({ logId, seq: rows.uint64(), timeNs: rows.int64() })
  }
  return { found: found.slice(0, limit), hasMore: found.length > limit, cost: costOf(asking, 1) }
}
