import type { ClickHouseClient } from '@clickhouse/client'
import { eventsTables, localTable } from '../../lines/layout/table.ts'
import { moveStatement, systemTable } from '../store/cluster-statements.ts'
import { COLD_DISKS } from '../store/cold-disk.ts'
import type { EventStore } from '../store/events.ts'
import type { StoredPart } from './ages.ts'

type TieredStore = Pick<EventStore, 'writer' | 'cluster'>

const ASK_BOUND_MS = 60_000
const DAY_S = 86_400

/** All parts of events, on every node. */
export async function selectParts({ writer, cluster }: TieredStore): Promise<StoredPart[]> {
  const tables = new Map(eventsTables.map((table) => [localTable(table, cluster), table]))
  const found = await rows<Omit<StoredPart, 'isCold'> & { isCold: number }>(
    writer,
    `select hostName() as node, table, name, toFloat64(toUInt32(toDate(partition))) as day, disk_name in ${COLD_DISKS} as isCold,
       toFloat64(bytes_on_disk) as bytes, toFloat64(dateDiff('second', modification_time, now())) as ageS
     from ${systemTable(cluster, 'parts')} where active and database = currentDatabase() and table in {tables:Array(String)}`,
    { tables: [...tables.keys()] },
  )
  return found.map((part) => ({ ...part, table: tables.get(part.table) ?? part.table, isCold: part.isCold === 1 }))
}

/** The events of a dataset on the disk and in cold storage. */
export async function countByTier({ writer }: TieredStore, logId: string): Promise<{ hot: number; cold: number }> {
  const tables = eventsTables.map(
    (table) =>
      `select _disk_name in ${COLD_DISKS} as is_cold, count() as events from ${table} where log_id = {logId:UUID} group by is_cold`,
  )
  const found = await rows<{ is_cold: number; events: string }>(writer, tables.join(' union all '), { logId })
  const eventsIn = (isCold: number): number => found.reduce((sum, row) => sum + (row.is_cold === isCold ? Number(row.events) : 0), 0)
  return { hot: eventsIn(0), cold: eventsIn(1) }
}

/** Those of some parts of a day that have events of some datasets. */
export async function partsWith(
  store: TieredStore,
  table: string,
  day: number,
  names: readonly string[],
  logIds: readonly string[],
): Promise<string[]> {
  const found = await rows<{ name: string }>(
    store.writer,
    `select distinct _part as name from ${localTable(table, store.cluster)}
     where toDate(ts) = toDate({second:UInt32}, 'UTC') and _part in {names:Array(String)} and log_id in {logIds:Array(UUID)}`,
    { second: day * DAY_S, names, logIds },
  )
  return found.map(({ name }) => name)
}

/** Moves a part, and reads what describes it back into the cache of the disk, from which the embedded engine starts while the bucket is away. */
export async function movePart({ writer, cluster }: TieredStore, { table, name }: StoredPart, volume: string): Promise<void> {
  await writer.command({
    query: moveStatement(cluster, table, volume),
    query_params: { name },
    clickhouse_settings:
      cluster === undefined
        ? { read_from_filesystem_cache_if_exists_otherwise_bypass_cache: 0 }
        : // Not every node has the part in the place from which it moves.
          { distributed_ddl_output_mode: 'never_throw' },
  })
}

/** Whether a move of the part goes on without its connection. */
export async function isMoving({ writer, cluster }: TieredStore, { name }: StoredPart): Promise<boolean> {
  const found = await rows<{ one: number }>(
    writer,
    `select 1 as one from ${systemTable(cluster, 'moves')} where database = currentDatabase() and part_name = {name:String}`,
    { name },
  )
  return found.length > 0
}

/** The parts whose description is not in the cache of their disk. */
export async function selectUncached({ writer }: TieredStore): Promise<ReadonlySet<string>> {
  const found = await rows<{ part: string }>(
    writer,
    `select distinct splitByChar('/', local_path)[-2] as part from system.remote_data_paths
     where disk_name in ${COLD_DISKS} and (endsWith(local_path, '/checksums.txt') or endsWith(local_path, '/metadata_version.txt')) and empty(cache_paths)`,
    {},
  )
  return new Set(found.map(({ part }) => part))
}

async function rows<Row>(writer: ClickHouseClient, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await writer.query({ query, query_params: params, format: 'JSONEachRow', abort_signal: AbortSignal.timeout(ASK_BOUND_MS) })
  return answer.json<Row>()
}
