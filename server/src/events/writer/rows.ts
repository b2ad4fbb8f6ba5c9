import { Readable } from 'node:stream'
import type { ClickHouseSettings } from '@clickhouse/client'
import type { Clock } from '../../kernel/clock.ts'
import { eventsTables, indexesAfterInsert, localTable } from '../../lines/layout/table.ts'
import { everyNode, killStatement, majority, syncStatement, systemTable, WITHOUT_WAITING } from '../store/cluster-statements.ts'
import type { EventStore } from '../store/events.ts'

export type Insert = {
  table: string
  /** The deduplication token: two inserts with one token are stored once. */
  token: string
  queryId: string
  rows: number
  bytes: number
  chunks(): Iterable<Buffer>
}

const INSERT_BOUND_MS = 60_000
const ASK_BOUND_MS = 30_000
const LOOKUP_BOUND_MS = 5_000
const SYNC_BOUND_S = 30
const END_TRIES = 50
const END_AGAIN_MS = 100

const EVERY_INSERT: ClickHouseSettings = {
  async_insert: 0,
  insert_deduplicate: 1,
  // Unknown columns must fail instead of being dropped silently.
  input_format_skip_unknown_fields: 0,
  // All blocks of a group become one part, so that the insert is atomic.
  min_insert_block_size_rows: '1048576',
  min_insert_block_size_bytes: '0',
  max_insert_threads: '1',
  exclude_materialize_skip_indexes_on_insert: indexesAfterInsert.join(','),
}

/** Returns when the rows are durable. Content-Length is sent, so that a cut connection does not look like the end of the body. */
export async function insertNative(store: EventStore, insert: Insert, signal?: AbortSignal): Promise<void> {
  const bound = AbortSignal.timeout(INSERT_BOUND_MS)
  const answer = await store.writer.exec({
    query: `insert into ${localTable(insert.table, store.cluster)} format Native`,
    query_id: insert.queryId,
    values: Readable.from(insert.chunks(), { objectMode: false }),
    http_headers: { 'content-length': String(insert.bytes) },
    abort_signal: signal ? AbortSignal.any([signal, bound]) : bound,
    clickhouse_settings: {
      ...EVERY_INSERT,
      insert_deduplication_token: insert.token,
      ...majority(store.cluster),
    },
  })
  for await (const _ of answer.stream);
  const written = answer.summary?.written_rows
  if (written !== undefined && Number(written) < insert.rows) throw new Error(`the event store stored ${written} of ${insert.rows} rows`)
}

/** Counts running queries whose id has the prefix. Unreachable nodes are skipped. */
export const runningInserts = async (store: EventStore, idPrefix: string): Promise<number> => {
  const answer = await store.writer.query({
    query: `select toUInt32(count()) as running from ${systemTable(store.cluster, 'processes')} where startsWith(query_id, {prefix:String})`,
    query_params: { prefix: idPrefix },
    format: 'JSONEachRow',
    clickhouse_settings: { skip_unavailable_shards: 1 },
    abort_signal: AbortSignal.timeout(LOOKUP_BOUND_MS),
  })
  const [row] = await answer.json<{ running: number }>()
  return row?.running ?? 0
}

/**
 * The lowest first number of the running inserts of all processes, of which each has its numbers in its query id. Throws when a node does not answer, because
 * an insert may run there.
 */
export const lowestRunningInsert = async (store: EventStore): Promise<bigint | undefined> => {
  const answer = await store.writer.query({
    query: `select toString(min(toUInt64OrZero(extract(query_id, '^[0-9a-f-]{36} ([0-9]+) [0-9]+ [0-9]+$')) as first)) as lowest, toUInt32(count()) as running
      from ${systemTable(store.cluster, 'processes')} where first > 0`,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(LOOKUP_BOUND_MS),
  })
  const [row] = await answer.json<{ lowest: string; running: number }>()
  return row === undefined || row.running === 0 ? undefined : BigInt(row.lowest)
}

/**
 * Kills running inserts whose query id has the prefix and waits until they have ended, so that the stored state is final. It asks the connected node
 * first and the whole cluster only while something runs, so that an unreachable node does not block the result. It throws when an insert keeps running.
 */
export const endInserts = async (store: EventStore, idPrefix: string, clock: Clock): Promise<void> => {
  await killInserts(store, idPrefix)
  for (let tries = 0; tries < END_TRIES; tries += 1) {
    if ((await runningInserts(store, idPrefix)) === 0) return
    // Behind a load balancer the insert may run on another node: distribute the kill by DDL queue without waiting for the answers.
    if (tries === 0 && store.cluster !== undefined) await killInserts(store, idPrefix, store.cluster)
    await clock.sleep(END_AGAIN_MS)
  }
  throw new Error('an insert whose outcome is unknown could not be ended yet')
}

const killInserts = async (store: EventStore, idPrefix: string, cluster?: string): Promise<void> => {
  await store.writer.command({
    query: killStatement(cluster),
    query_params: { prefix: idPrefix },
    clickhouse_settings: cluster === undefined ? {} : WITHOUT_WAITING,
    abort_signal: AbortSignal.timeout(LOOKUP_BOUND_MS),
  })
}

/**
 * Waits until every replica of a cluster has the events that were inserted before, so that a read finds them whichever replica it reaches. Throws when a
 * replica does not get there in time.
 */
export const syncReplicas = async (store: EventStore): Promise<void> => {
  const answer = await store.writer.query({
    query: `select name from system.tables
      where database = currentDatabase() and startsWith(engine, 'Replicated') and name in {names:Array(String)} order by name`,
    query_params: { names: eventsTables.map((table) => localTable(table, store.cluster)) },
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(LOOKUP_BOUND_MS),
  })
  for (const { name } of await answer.json<{ name: string }>()) {
    await store.writer.command({
      query: syncStatement(store.cluster, name),
      clickhouse_settings: { distributed_ddl_task_timeout: String(SYNC_BOUND_S), distributed_ddl_output_mode: 'throw' },
      abort_signal: AbortSignal.timeout(2_000 * SYNC_BOUND_S),
    })
  }
}

export type StoredRange = { table: string; day: number; first: bigint; last: bigint }

/**
 * Counts the stored rows of an insert; a range of sequence numbers belongs to one insert. In a cluster the rows are on the connected node, unless a load
 * balancer chose another. Then all nodes that answer are queried, since a replica may lack what others have, and at last every shard must answer.
 */
export const storedRows = async (store: EventStore, range: StoredRange): Promise<number> => {
  const { table } = range
  const local = localTable(table, store.cluster)
  const here = await countRows(store, local, range)
  if (here > 0 || store.cluster === undefined) return here
  const onNodes = await countRows(store, everyNode(store.cluster, `currentDatabase(), ${local}`), range, { skip_unavailable_shards: 1 })
  return onNodes > 0 ? onNodes : countRows(store, table, range)
}

/** All rows of an insert are on one shard, and each of its replicas has all of them or none. */
async function countRows(
  { writer }: EventStore,
  from: string,
  { day, first, last }: StoredRange,
  settings: ClickHouseSettings = {},
): Promise<number> {
  const answer = await writer.query({
    query: `select toUInt32(max(rows)) as stored from (select shardNum() as node, count() as rows from ${from}
      where toDate(ts) = toDate({day:UInt16}) and seq between {first:UInt64} and {last:UInt64} group by node)`,
    query_params: { day, first: String(first), last: String(last) },
    format: 'JSONEachRow',
    clickhouse_settings: settings,
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
  const [row] = await answer.json<{ stored: number }>()
  return row?.stored ?? 0
}
