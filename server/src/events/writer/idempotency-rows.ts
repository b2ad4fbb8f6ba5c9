import type { ClickHouseClient } from '@clickhouse/client'
import { eventsTables } from '../../lines/layout/table.ts'
import { andTiers, type ReadTiers } from '../store/cold-disk.ts'

export type StoredPost = { org_id: number; log_id: string; post: bigint }
/** The number of stored events of a post on one day. */
export type StoredDay = StoredPost & { day: number; rows: number }

/** Posts wait for these answers, so a stuck query is retried soon. The hour before a start is read once. */
const ASK_BOUND_MS = 4_000
const DAY_MS = 86_400_000

const everyTable = (select: (table: string) => string): string => eventsTables.map(select).join(' union all ')

/** The read ends after `boundMs` or with the signal. */
type PostsRead = { postsMax: number; boundMs?: number; signal?: AbortSignal; tiers: ReadTiers }

/** The idempotency key of every post with events from sequence number `seq` on. */
export async function* postsSince(
  writer: ClickHouseClient,
  seq: bigint,
  { postsMax, boundMs = ASK_BOUND_MS, signal, tiers }: PostsRead,
): AsyncIterable<StoredPost> {
  const answer = await writer.query({
    query: `select * from (${everyTable(
      (table) => `select distinct org_id, log_id, post from ${table} where seq >= {seq:UInt64} and post != 0 ${andTiers(tiers)}`,
    )}) limit {postsMax:UInt32}`,
    query_params: { seq: String(seq), postsMax },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.any([AbortSignal.timeout(boundMs), ...(signal ? [signal] : [])]),
  })
  for await (const chunk of answer.stream<{ org_id: number; log_id: string; post: string }>()) {
    for (const row of chunk) {
      const { post, ...rest } = row.json()
      yield { ...rest, post: BigInt(post) }
    }
  }
}

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

export type PostLookup = { logIds: readonly string[]; posts: readonly bigint[]; days: readonly number[] }

/** Counts stored rows of posts on the given days, with sequence numbers from `seq` on. */
export const storedDays = async (writer: ClickHouseClient, { logIds, posts, days }: PostLookup, seq: bigint): Promise<StoredDay[]> => {
  const answer = await writer.query({
    query: `select org_id, log_id, post, toUInt32(toUInt16(day)) as day, toUInt32(sum(rows)) as rows from (${everyTable(
      (table) => `select org_id, log_id, post, toDate(ts) as day, count() as rows from ${table}
        where log_id in {logIds:Array(UUID)} and toDate(ts) in {days:Array(Date)}
          and seq >= {seq:UInt64} and post in {posts:Array(UInt64)}
        group by org_id, log_id, post, day`,
    )}) group by org_id, log_id, post, day`,
    // As dates: the store leaves out the parts of other days only for a list that is not computed.
    query_params: { logIds: [...logIds], posts: [...posts], days: days.map(dateOf), seq: String(seq) },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
  const rows = await answer.json<{ org_id: number; log_id: string; post: string; day: number; rows: number }>()
  return rows.map((row) => ({ ...row, post: BigInt(row.post) }))
}
