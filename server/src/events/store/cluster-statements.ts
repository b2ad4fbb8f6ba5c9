import type { ClickHouseSettings } from '@clickhouse/client'
import { indexesAfterInsert, localTable, SHARD_KEY } from '../../lines/layout/table.ts'
import type { StoreAddress } from './address.ts'

/**
 * Everything that is sent to a cluster and not to one server: a rule holds that no other file names a cluster in a statement, and cluster-plan.ts prints all
 * of it. Names are written unescaped: address.ts accepts only identifiers, and tables are ours. Values of callers are parameters.
 */

type Cluster = StoreAddress['cluster']
export type ClusterTarget = Pick<StoreAddress, 'database' | 'cluster'>

/** The clause that runs a statement on every node. It begins with a space. */
export const onEveryNode = (cluster: Cluster): string => (cluster === undefined ? '' : ` on cluster '${cluster}'`)

/** The rows of a table on every node, each of which counts as a shard. */
export const everyNode = (cluster: string, table: string): string => `clusterAllReplicas('${cluster}', ${table})`

/** A system table of every node. */
export const systemTable = (cluster: Cluster, name: 'disks' | 'moves' | 'mutations' | 'parts' | 'processes'): string =>
  cluster === undefined ? `system.${name}` : everyNode(cluster, `system.${name}`)

/** One row of each shard; the read fails when no replica of a shard answers. */
export const everyShard = (cluster: string): string => `cluster('${cluster}', system.one)`

/** `sharded` spreads the rows over the shards, `everywhere` keeps all of them on every node. */
export function tableEngine(table: string, spread: 'sharded' | 'everywhere', { cluster, database }: ClusterTarget): string {
  if (cluster === undefined) return 'MergeTree'
  const [shard, replica] = spread === 'sharded' ? ['{shard}', '{replica}'] : ['everywhere', '{shard}-{replica}']
  return `ReplicatedMergeTree('/clickhouse/tables/${shard}/${database}/${table}', '${replica}')`
}

/** The statement that creates the table that reads all shards; none on one server. */
export function distributedTable(table: string, { cluster, database }: ClusterTarget): string {
  if (cluster === undefined) return ''
  const local = localTable(table, cluster)
  return `create table if not exists ${table}${onEveryNode(cluster)} as ${local}
engine = Distributed('${cluster}', '${database}', '${local}', ${SHARD_KEY})`
}

export const createDatabaseStatement = ({ database, cluster }: ClusterTarget): string =>
  `create database if not exists ${database}${onEveryNode(cluster)}`

/** Also removes what Keeper has of its tables, so that a database of that name can be created again. */
export const dropDatabaseStatement = ({ database, cluster }: ClusterTarget): string =>
  `drop database if exists ${database}${onEveryNode(cluster)} sync`

export const policyStatement = (cluster: Cluster, table: string, policy: string): string =>
  `alter table ${localTable(table, cluster)}${onEveryNode(cluster)} modify setting storage_policy = '${policy}'`

/** Moves a part on every node that has it. */
export const moveStatement = (cluster: Cluster, table: string, volume: string): string =>
  `alter table ${localTable(table, cluster)}${onEveryNode(cluster)} move part {name:String} to volume '${volume}'`

/** Builds the indexes that parts of a partition lack since they were inserted or merged, of a table that holds rows. */
export const indexStatement = (cluster: Cluster, table: string): string =>
  `alter table ${table}${onEveryNode(cluster)} ${indexesAfterInsert
    .map((index) => `materialize index ${index} in partition {partition:String}`)
    .join(', ')}`

export const deleteStatement = (cluster: Cluster, table: string, condition: string): string =>
  `alter table ${localTable(table, cluster)}${onEveryNode(cluster)} delete where ${condition}`

/** Deletes rows of a table that every node has. */
export const deleteEverywhereStatement = (cluster: Cluster, table: string, condition: string): string =>
  `alter table ${table}${onEveryNode(cluster)} delete where ${condition}`

export const dropClaimsStatement = (cluster: Cluster): string =>
  `alter table seq_claims${onEveryNode(cluster)} drop partition {partition:UInt64}`

/** Kills inserts on the node that is spoken to, or with a cluster on every node. */
export const killStatement = (cluster: Cluster): string =>
  `kill query${onEveryNode(cluster)} where startsWith(query_id, {prefix:String}) async`

export const syncStatement = (cluster: Cluster, table: string): string => `system sync replica${onEveryNode(cluster)} ${table} lightweight`

/** A statement of DDL whose nodes are not waited for. */
export const WITHOUT_WAITING: ClickHouseSettings = { distributed_ddl_task_timeout: '0', distributed_ddl_output_mode: 'never_throw' }

/** An acknowledged insert is on more than half of the replicas. */
export const majority = (cluster: Cluster): ClickHouseSettings => (cluster === undefined ? {} : { insert_quorum: 'auto' })

/** One insert at a time is acknowledged, once more than half of the replicas have it, so that a sequential read finds all before it. */
export const orderedMajority = (cluster: Cluster): ClickHouseSettings =>
  cluster === undefined ? {} : { insert_quorum: 'auto', insert_quorum_parallel: 0 }

/** A read sees every acknowledged insert, or fails on a replica that lacks one. One server ignores it. */
export const SEQUENTIAL: ClickHouseSettings = { select_sequential_consistency: '1' }
/** Nothing on one server, where readers may not change settings. */
export const sequential = (cluster: Cluster): ClickHouseSettings => (cluster === undefined ? {} : SEQUENTIAL)
