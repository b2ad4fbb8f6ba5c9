import type { EventStore } from '../events/store/events.ts'
import { branchesOf } from './branches.ts'
import type { EventQuery, QueryCost } from './event-query.ts'
import { scopeOf } from './events-statement.ts'
import { costOf, run, startQueryRun } from './run.ts'
import { and, digits, joined, name, param, sql, TRUE } from './statement.ts'

/** An event, identified by number, dataset and time. */
export type EventNumber = { readonly logId: string; readonly seq: bigint; readonly timeNs: bigint }

/**
 * Selects numbers above `after`, up to a limit. `oneOf` is a power of two and samples one of so many: the same ones each time, and a
 * superset of the sample of every greater one.
 */
export type NumbersRequest = { readonly after: bigint; readonly oneOf: number; readonly limit: number }

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
