import type { ClickHouseClient } from '@clickhouse/client'
import { SCRATCH } from '../../../backups/verify.ts'
import { eventsTables } from '../../../lines/layout/table.ts'
import { type Sql, sql } from '../../../meta/sql.ts'

/** A dataset of a backup with its storage layout, which says where the values of its events lie. */
export type CopiedDataset = {
  org_id: string
  collection: string
  dataset: string
  org_number: number
  layout: { version: number; table_classes: string[]; periods: number[]; open_maps: string[] } | null
  slots: { path: string; slot: string; version: number; of_events: boolean }[]
}

/** The tables of metadata that copiedDataset reads. */
export const DATASET_TABLES = ['organisations', 'datasets', 'slot_maps', 'slots']

export const copiedDataset = (id: string): Sql => sql`
  select d.org_id, d.collection, d.dataset, o.number as org_number,
    (select to_jsonb(m) from backup_slot_maps m where m.log_id = d.id) as layout,
    coalesce((select jsonb_agg(to_jsonb(s)) from backup_slots s where s.log_id = d.id), '[]') as slots
  from backup_datasets d join backup_organisations o on o.id = d.org_id
  where d.id = ${id} and d.deleted_at is null`

type CopiedEvents = { orgNumber: number; fromId: string }

/** Finds the events above `after`, at most `rowsMax`, in the order of their numbers. */
export async function nextEvents(
  client: ClickHouseClient,
  { orgNumber, fromId }: CopiedEvents,
  after: bigint,
  rowsMax: number,
): Promise<{ rows: number; last: bigint }> {
  const answer = await client.query({
    query: `select toFloat64(count()) as rows, toString(max(seq)) as last from (
      select seq from ${SCRATCH} where org_id = {org:UInt32} and log_id = {from:UUID} and seq > {after:UInt64} order by seq limit {max:UInt32})`,
    query_params: { org: orgNumber, from: fromId, after: String(after), max: rowsMax },
    format: 'JSONEachRow',
  })
  const [found] = await answer.json<{ rows: number; last: string }>()
  return { rows: found?.rows ?? 0, last: BigInt(found?.last ?? 0) }
}

const SORT_BYTES = 256 * 2 ** 20

/** Copies the events of a range of numbers into a table as those of another dataset, with new numbers and without the identity of their posts. */
export async function copyEvents(
  client: ClickHouseClient,
  { orgNumber, fromId }: CopiedEvents,
  to: { table: string; id: string; after: bigint; last: bigint; first: bigint },
): Promise<void> {
  if (!eventsTables.includes(to.table)) throw new Error(`${to.table} is not a table of events`)
  await client.command({
    query: `insert into ${to.table}
      select * replace ({id:UUID} as log_id, toUInt64(0) as post, {first:UInt64} + rowNumberInAllBlocks() as seq) from (
        select * from ${SCRATCH} where org_id = {org:UInt32} and log_id = {from:UUID} and seq > {after:UInt64} and seq <= {last:UInt64} order by seq)`,
    query_params: {
      id: to.id,
      first: String(to.first),
      org: orgNumber,
      from: fromId,
      after: String(to.after),
      last: String(to.last),
    },
    clickhouse_settings: { max_bytes_before_external_sort: String(SORT_BYTES) },
  })
}
