import type { Identity, SpendBudget, SpendPrice } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type SpendSettingsRow = {
  org_id: string
  price: SpendPrice | null
  budget: SpendBudget | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectSettings = (db: Db, orgId: string) => db.one<SpendSettingsRow>(sql`select * from spend_settings where org_id = ${orgId}`)

/** Locks the settings until the end of the transaction. */
export const lockSettings = (db: Db, orgId: string) =>
  db.one<SpendSettingsRow>(sql`select * from spend_settings where org_id = ${orgId} for update`)

/** Stores the settings of an organization, and keeps when and by whom they were first set. */
export const upsertSettings = (db: Db, row: SpendSettingsRow) =>
  db.one<SpendSettingsRow>(sql`
    insert into spend_settings (org_id, price, budget, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${json(row.price ?? undefined)}, ${json(row.budget ?? undefined)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})
    on conflict (org_id) do update set price = excluded.price, budget = excluded.budget, modified_at = excluded.modified_at, modified_by = excluded.modified_by
    returning *`)

export type DatasetUse = {
  log_id: string
  created_at: number
  queried_ms: number | null
  is_watched: boolean
  counted: number
  debugs: number
}

/** What the counts of insights and monitors know of the use of datasets, and their severities since a time. */
export const selectUse = (db: Db, orgId: string, logIds: readonly string[], sinceMs: number) =>
  db.all<DatasetUse>(sql`
    select d.id as log_id, d.created_at, i.queried_ms, d.id in (select unnest(reads) from monitor_states where org_id = ${orgId}) as is_watched,
      coalesce(h.counted, 0)::bigint as counted, coalesce(h.debugs, 0)::bigint as debugs
    from datasets d
    left join insight_datasets i on i.log_id = d.id
    left join (
      select log_id, sum(counted) as counted, sum(debugs) as debugs from insight_hours
      where org_id = ${orgId} and hour_ms >= ${sinceMs} and log_id = any(${[...logIds]}::uuid[]) group by log_id
    ) h on h.log_id = d.id
    where d.org_id = ${orgId} and d.id = any(${[...logIds]}::uuid[]) and d.deleted_at is null`)
