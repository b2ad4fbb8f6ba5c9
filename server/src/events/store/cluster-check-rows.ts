import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client'
import { localTable } from '../../lines/layout/table.ts'
import {
  type ClusterTarget,
  createDatabaseStatement,
  deleteStatement,
  dropDatabaseStatement,
  everyNode,
  killStatement,
  orderedMajority,
  syncStatement,
} from './cluster-statements.ts'
import { migrationStatements } from './migrate.ts'

/** A node as the cluster names it, by the numbers of its shard and its replica. */
export type ClusterNode = { readonly shard: number; readonly replica: number; readonly name: string }

/** A database that is created for a check and removed afterwards. */
export type CheckTarget = ClusterTarget & { readonly cluster: string; readonly nodes: readonly ClusterNode[] }

const BOUND_MS = 120_000
const DDL: ClickHouseSettings = { distributed_ddl_task_timeout: '60', distributed_ddl_output_mode: 'throw' }
/** The table to which the events of a check go; the others differ only in their columns. */
const TABLE = 'events_s'

export const nodesOf = (outside: ClickHouseClient, cluster: string): Promise<ClusterNode[]> =>
  rows<ClusterNode>(
    outside,
    `select shard_num as shard, replica_num as replica, concat(host_name, ':', toString(port)) as name
     from system.clusters where cluster = {cluster:String} order by shard_num, replica_num`,
    { cluster },
  )

export const databasesLike = async (outside: ClickHouseClient, prefix: string): Promise<string[]> =>
  (
    await rows<{ name: string }>(outside, 'select name from system.databases where startsWith(name, {prefix:String}) order by name', {
      prefix,
    })
  ).map(({ name }) => name)

/** An aggregate of a table on each node, in the order of the nodes; undefined for nodes on which it has no rows. */
async function ofNodes<Value>(
  client: ClickHouseClient,
  { cluster, nodes }: Pick<CheckTarget, 'cluster' | 'nodes'>,
  table: string,
  aggregate: string,
): Promise<(Value | undefined)[]> {
  const found = await rows<{ nth: number; value: Value }>(
    client,
    `select toUInt32(shardNum()) as nth, ${aggregate} as value from ${everyNode(cluster, table)} group by nth`,
    {},
  )
  const byNumber = new Map(found.map(({ nth, value }) => [nth, value]))
  return nodes.map((_, index) => byNumber.get(index + 1))
}

type NodesToAsk = Pick<CheckTarget, 'cluster' | 'nodes'>

export const versionsOf = (outside: ClickHouseClient, at: NodesToAsk): Promise<(string | undefined)[]> =>
  ofNodes<string>(outside, at, 'system.build_options', "anyIf(value, name = 'VERSION_DESCRIBE')")

export async function macrosOf(outside: ClickHouseClient, at: NodesToAsk): Promise<{ shard: string; replica: string }[]> {
  const read = (name: string) => ofNodes<string>(outside, at, 'system.macros', `anyIf(substitution, macro = '${name}')`)
  const [shards, replicas] = [await read('shard'), await read('replica')]
  return at.nodes.map((_, index) => ({ shard: shards[index] ?? '', replica: replicas[index] ?? '' }))
}

/** The connections to Keeper that each node has. */
export const keepersOf = (outside: ClickHouseClient, at: NodesToAsk): Promise<(number | undefined)[]> =>
  ofNodes<number>(outside, at, 'system.zookeeper_connection', 'toUInt32(countIf(not is_expired))')

export const createTables = async (outside: ClickHouseClient, inside: ClickHouseClient, target: CheckTarget): Promise<void> => {
  await command(outside, createDatabaseStatement(target), {}, DDL)
  for (const statement of await migrationStatements(target)) await command(inside, statement, {}, DDL)
}

/** Inserts one row with one token twice, as two processes that claim the same numbers do. */
export const claimTwice = async (inside: ClickHouseClient, { cluster }: CheckTarget): Promise<void> => {
  for (const owner of ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']) {
    await command(
      inside,
      'insert into seq_claims (claim, owner, first, next) select 1, {owner:UUID}, 1, 2',
      { owner },
      {
        ...orderedMajority(cluster),
        insert_deduplication_token: 'claim 1',
      },
    )
  }
}

export const claimsOf = (outside: ClickHouseClient, target: CheckTarget): Promise<(number | undefined)[]> =>
  ofNodes<number>(outside, target, `${target.database}.seq_claims`, 'toUInt32(count())')

/** Inserts events through the table of all shards, which waits until the shards have them. */
export const addEventsToShards = (inside: ClickHouseClient, count: number): Promise<void> =>
  command(
    inside,
    `insert into ${TABLE} (org_id, log_id, ts, seq, raw) select 1, generateUUIDv4(), now64(9), number, 'check' from numbers({count:UInt32})`,
    { count },
    { distributed_foreground_insert: 1 },
  )

/** The events that lie on each node. */
export const eventsOn = (outside: ClickHouseClient, target: CheckTarget): Promise<(number | undefined)[]> =>
  ofNodes<number>(outside, target, `${target.database}.${localTable(TABLE, target.cluster)}`, 'toUInt32(count())')

/** The events of all shards that each node finds. A node that read the table of all shards for another node would read its own shard only. */
export const eventsFrom = (outside: ClickHouseClient, target: CheckTarget): Promise<(number | undefined)[]> =>
  ofNodes<number>(outside, target, `view(select count() as events from ${target.database}.${TABLE})`, 'toUInt32(sum(events))')

export const syncEvents = (inside: ClickHouseClient, { cluster }: CheckTarget): Promise<void> =>
  command(inside, syncStatement(cluster, localTable(TABLE, cluster)), {}, DDL)

/** The prefix is that of no query, so nothing is killed. */
export const killNothing = (inside: ClickHouseClient, { cluster, database }: CheckTarget): Promise<void> =>
  command(inside, killStatement(cluster), { prefix: `none ${database}` }, DDL)

export const deleteAll = (inside: ClickHouseClient, { cluster }: CheckTarget): Promise<void> =>
  command(inside, deleteStatement(cluster, TABLE, 'org_id = 1'), {}, { ...DDL, mutations_sync: '2' })

export const dropDatabase = (outside: ClickHouseClient, target: ClusterTarget): Promise<void> =>
  command(outside, dropDatabaseStatement(target), {}, DDL)

async function command(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
  settings: ClickHouseSettings,
): Promise<void> {
  await client.command({
    query,
    query_params: params,
    clickhouse_settings: settings,
    abort_signal: AbortSignal.timeout(BOUND_MS),
  })
}

async function rows<Row>(client: ClickHouseClient, query: string, params: Record<string, unknown>): Promise<Row[]> {
  const answer = await client.query({ query, query_params: params, format: 'JSONEachRow', abort_signal: AbortSignal.timeout(BOUND_MS) })
  return answer.json<Row>()
}
