import type { Downtime, Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type DowntimeRow = {
  org_id: string
  id: string
  name: string
  description: string
  covers: string[]
  suppress_recovery_alert: boolean
  alert_strategy: Downtime['alert_strategy']
  static_time_range: NonNullable<Downtime['static_time_range']> | null
  dynamic_time_range: NonNullable<Downtime['dynamic_time_range']> | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectDowntimes = (db: Db, orgId: string) =>
  db.all<DowntimeRow>(sql`select * from downtimes where org_id = ${orgId} order by created_at desc, id`)

export const selectDowntime = (db: Db, orgId: string, id: string) =>
  db.one<DowntimeRow>(sql`select * from downtimes where org_id = ${orgId} and id = ${id}`)

export const lockDowntime = (db: Db, orgId: string, id: string) =>
  db.one<DowntimeRow>(sql`select * from downtimes where org_id = ${orgId} and id = ${id} for update`)

export const insertDowntime = (db: Db, row: DowntimeRow) =>
  db.run(sql`
    insert into downtimes (org_id, id, name, description, covers, suppress_recovery_alert, alert_strategy, static_time_range, dynamic_time_range,
      created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.covers}::uuid[], ${row.suppress_recovery_alert},
      ${row.alert_strategy}, ${nullable(row.static_time_range)}, ${nullable(row.dynamic_time_range)}, ${row.created_at},
      ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateDowntimeRow = (db: Db, row: DowntimeRow) =>
  db.run(sql`
    update downtimes set name = ${row.name}, description = ${row.description}, covers = ${row.covers}::uuid[],
      suppress_recovery_alert = ${row.suppress_recovery_alert}, alert_strategy = ${row.alert_strategy},
      static_time_range = ${nullable(row.static_time_range)}, dynamic_time_range = ${nullable(row.dynamic_time_range)},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteDowntime = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from downtimes where org_id = ${orgId} and id = ${id}`)

/** Writes SQL NULL instead of JSON null. */
const nullable = (value: object | null) => (value === null ? null : json(value))
