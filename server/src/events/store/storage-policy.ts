import type { ClickHouseClient } from '@clickhouse/client'
import { eventsTables, localTable } from '../../lines/layout/table.ts'
import type { Clients } from './clients.ts'
import { policyStatement } from './cluster-statements.ts'
import { COLD_VOLUME } from './cold-disk.ts'

/** Gives the tables of events the storage policy, which must have a volume for old events. */
export async function useStoragePolicy({ writer, address }: Clients, policy: string): Promise<void> {
  const { cluster, url } = address
  const volumes = await rows<{ name: string }>(
    writer,
    'select volume_name as name from system.storage_policies where policy_name = {policy:String}',
    { policy },
  )
  if (volumes.length === 0)
    throw new Error(`the event store at ${url} has no storage policy ${policy}; DENDRO_CLICKHOUSE_STORAGE_POLICY must name one`)
  if (!volumes.some(({ name }) => name === COLD_VOLUME)) {
    throw new Error(`the storage policy ${policy} of the event store at ${url} has no volume ${COLD_VOLUME}, to which old events move`)
  }
  const tables = new Map(eventsTables.map((table) => [localTable(table, cluster), table]))
  const others = await rows<{ name: string }>(
    writer,
    `select name from system.tables where database = currentDatabase() and name in {tables:Array(String)} and storage_policy != {policy:String}`,
    { tables: [...tables.keys()], policy },
  )
  const changed = others.flatMap(({ name }) => tables.get(name) ?? [])
  for (const table of changed) {
    await writer.command({ query: policyStatement(cluster, table, policy) }).catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause)
      throw new Error(
        `the tables of events cannot have the storage policy ${policy}: ${message}; its first volume must be that of their policy before, with the same name and disks`,
        { cause },
      )
    })
  }
}

async function rows<Row>(client: ClickHouseClient, query: string, params: Record<string, unknown>): Promise<Row[]> {
  return (await client.query({ query, query_params: params, format: 'JSONEachRow' })).json<Row>()
}
