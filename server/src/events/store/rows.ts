import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { eventsTables, localTable } from '../../lines/layout/table.ts'
import type { StoreAddress } from './address.ts'
import { createDatabaseStatement, everyShard, indexStatement, systemTable } from './cluster-statements.ts'
import { COLD_DISKS } from './cold-disk.ts'
import { BACKUP_DISK } from './engine-config.ts'

/** Asks the server instead of connecting to the database, since the user of a database may not be allowed to create one. */
export const databaseExists = async (outside: ClickHouseClient, database: string, signal?: AbortSignal): Promise<boolean> =>
  (await rows(outside, 'select name from system.databases where name = {database:String}', { database }, signal)).length > 0

export const createDatabase = async (outside: ClickHouseClient, address: StoreAddress): Promise<void> => {
  await outside.command({ query: createDatabaseStatement(address) })
}

export const tableExists = async (writer: ClickHouseClient, table: string): Promise<boolean> =>
  (await rows(writer, 'select name from system.tables where database = currentDatabase() and name = {table:String}', { table })).length > 0

export type AppliedMigration = { number: number; name: string }

type MigrationTable = 'migrations' | 'compatible_migrations'

/** None where there is no such table. Distinct, since two services that migrate at once may both record a file. */
export const migrationsIn = async (writer: ClickHouseClient, table: MigrationTable): Promise<AppliedMigration[]> =>
  (await tableExists(writer, table)) ? rows<AppliedMigration>(writer, `select distinct number, name from ${table} order by number`, {}) : []

export const appliedMigrations = async (writer: ClickHouseClient): Promise<AppliedMigration[]> => [
  ...(await migrationsIn(writer, 'migrations')),
  ...(await migrationsIn(writer, 'compatible_migrations')),
]

export const recordMigration = async (
  writer: ClickHouseClient,
  table: MigrationTable,
  { number, name, nowMs }: AppliedMigration & { nowMs: number },
): Promise<void> => {
  await writer.command({
    query: `insert into ${table} (number, name, applied_at) select {number:UInt32}, {name:String}, fromUnixTimestamp64Milli({nowMs:Int64})`,
    query_params: { number, name, nowMs },
  })
}

/** ReaderLimits are the memory that one query of the reader may use, and all of them together, and the threads of one query; 0 is no limit. */
export type ReaderLimits = { readonly queryBytes: number; readonly allBytes: number; readonly threads: number }

export const readerLimits = async (reader: ClickHouseClient, signal: AbortSignal): Promise<ReaderLimits> => {
  const [row] = await rows<{ query: number; every: number; threads: number }>(
    reader,
    `select toFloat64(getSetting('max_memory_usage')) as query, toFloat64(getSetting('max_memory_usage_for_user')) as every,
      toFloat64(getSetting('max_threads')) as threads`,
    {},
    signal,
  )
  return { queryBytes: row?.query ?? 0, allBytes: row?.every ?? 0, threads: row?.threads ?? 0 }
}

export type DetachedParts = { table: string; reason: string; parts: number }

/** Counts the parts that the engine silently detached because they were damaged or unexpected. */
export const detachedParts = (writer: ClickHouseClient, signal?: AbortSignal): Promise<DetachedParts[]> =>
  rows<DetachedParts>(
    writer,
    `select table, reason, toUInt32(count()) as parts from system.detached_parts
     where database = currentDatabase() and reason != '' group by table, reason order by table, reason`,
    {},
    signal,
  )

export const answers = async (outside: ClickHouseClient, signal: AbortSignal): Promise<void> => {
  await rows(outside, 'select 1 as one', {}, signal)
}

/** True when every shard of a cluster has a replica that answers; otherwise it throws. */
export const shardsAnswer = async (outside: ClickHouseClient, cluster: string, signal: AbortSignal): Promise<boolean> =>
  (await rows(outside, `select 1 as one from ${everyShard(cluster)}`, {}, signal)).length > 0

/** The shards of a cluster, and those without a replica that answers, by the numbers that the store gives them. */
export const shardsOf = async (
  outside: ClickHouseClient,
  cluster: string,
  signal: AbortSignal,
): Promise<{ all: number; missing: readonly number[] }> => {
  const found = await rows<{ shard: number; isThere: number }>(
    outside,
    `select shard_num as shard, shard_num in (select shardNum() from ${everyShard(cluster)}) as isThere from system.clusters
     where cluster = {cluster:String} group by shard_num order by shard_num settings skip_unavailable_shards = 1`,
    { cluster },
    signal,
  )
  return { all: found.length, missing: found.filter(({ isThere }) => isThere === 0).map(({ shard }) => shard) }
}

/** Codes of an engine that lacks memory or a free slot for one more statement. */
const OVERLOADED: ReadonlySet<string> = new Set(['241', '202'])

/** True for an error that proves that the engine is running, although it cannot run the statement. */
export const isOverloaded = (cause: unknown): boolean => cause instanceof ClickHouseError && OVERLOADED.has(cause.code)

/** The id that an embedded engine got at its start. */
export const startId = async (outside: ClickHouseClient, signal: AbortSignal): Promise<string | undefined> =>
  (await rows<{ id: string }>(outside, "select getMacro('start') as id", {}, signal))[0]?.id

export const serverVersion = async (outside: ClickHouseClient, signal: AbortSignal): Promise<string> =>
  (await rows<{ version: string }>(outside, 'select version() as version', {}, signal))[0]?.version ?? ''

/** True when a query without an organization returns events. */
export const readsWithoutOrganization = async (reader: ClickHouseClient, signal: AbortSignal): Promise<boolean> => {
  const tables = eventsTables.map((table) => `select 1 as one from ${table} limit 1`)
  return (await rows(reader, `select one from (${tables.join(' union all ')}) limit 1`, {}, signal)).length > 0
}

/** The space of the node with the least free space, among those that answer. Several disks of a node are summed, except that of backups. */
export const diskSpace = async (
  writer: ClickHouseClient,
  cluster: string | undefined,
  signal?: AbortSignal,
): Promise<{ freeBytes: number; totalBytes: number } | undefined> => {
  const [least] = await rows<{ free: number; total: number }>(
    writer,
    `select sum(toFloat64(unreserved_space)) as free, sum(toFloat64(total_space)) as total from ${systemTable(cluster, 'disks')}
     where not is_read_only and not is_broken and name != '${BACKUP_DISK}' and name not in ${COLD_DISKS} group by hostName() having total > 0 order by free / total limit 1
     settings skip_unavailable_shards = 1`,
    {},
    signal,
  )
  return least && { freeBytes: Number(least.free), totalBytes: Number(least.total) }
}

/** A part of an events table without late indexes (table.ts). */
export type UnindexedPart = { node: string; table: string; partition: string; name: string; rows: number; ageS: number }

/**
 * Bounds the size of the other indexes of a granule: two pairs of numbers take 33 bytes, and merges build the index of overflow keys, which takes 10 bits for
 * each of up to 2,000. Where all late indexes together are smaller, because the events have few words, they are requested once, without effect.
 */
const OTHER_INDEX_BYTES = 2_600

type IndexedStore = { writer: ClickHouseClient; cluster: string | undefined }

/** A partition with parts in cold storage gets no indexes any more: all of its parts would be written again, and wait while the bucket is away. */
export async function selectUnindexedParts({ writer, cluster }: IndexedStore, signal: AbortSignal): Promise<UnindexedPart[]> {
  const parts = systemTable(cluster, 'parts')
  return rows<UnindexedPart>(
    writer,
    `select hostName() as node, table, partition, name, toFloat64(rows) as rows,
       toFloat64(dateDiff('second', modification_time, now())) as ageS from ${parts}
     where active and database = currentDatabase() and table in {tables:Array(String)}
       and secondary_indices_uncompressed_bytes < marks * {bytes:UInt32}
       and (hostName(), table, partition) global not in (
         select hostName(), table, partition from ${parts} where active and database = currentDatabase() and disk_name in ${COLD_DISKS})`,
    { tables: eventsTables.map((table) => localTable(table, cluster)), bytes: OTHER_INDEX_BYTES },
    signal,
  )
}

/** Tables in which the store is still building indexes. */
export async function tablesBeingIndexed({ writer, cluster }: IndexedStore, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const running = await rows<{ table: string }>(
    writer,
    `select distinct table from ${systemTable(cluster, 'mutations')} where not is_done and not is_killed and database = currentDatabase()
       and command like '(MATERIALIZE INDEX%'`,
    {},
    signal,
  )
  return new Set(running.map(({ table }) => table))
}

/** Starts to build the late indexes of the parts of a partition that lack them; the others stay as they are. */
export async function indexPartition(
  { writer, cluster }: IndexedStore,
  { table, partition }: Pick<UnindexedPart, 'table' | 'partition'>,
  signal: AbortSignal,
): Promise<void> {
  await writer.command({
    query: indexStatement(cluster, table),
    query_params: { partition },
    clickhouse_settings: { mutations_sync: '0' },
    abort_signal: signal,
  })
}

async function rows<Row>(client: ClickHouseClient, query: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<Row[]> {
  const answer = await client.query({
    query,
    query_params: params,
    format: 'JSONEachRow',
    ...(signal ? { abort_signal: signal } : {}),
  })
  return answer.json<Row>()
}
