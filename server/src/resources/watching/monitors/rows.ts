import type { Db } from '../../../meta/meta.ts'
import { among, type ChangedIds } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { MonitorRow, StateRow } from '../monitor-definitions/monitor-definitions.ts'

/** Queries and formulas live in the metric definition, so that changing it changes the monitor. */
const columns = sql`m.*, m.aux::json as aux, m.template::json as template, coalesce(d.queries, '[]') as queries, coalesce(d.formulas, '[]') as formulas`
const from = sql`from monitors m left join metric_definitions d on d.id = m.metric_id and d.org_id = m.org_id`

export const selectMonitors = (db: Db, orgId: string, changed: ChangedIds | undefined) => {
  const [ids, metricIds] = [changed?.get('monitors') ?? [], changed?.get('metric_definitions') ?? []]
  const chosen = changed ? sql`(${among(sql`m.id`, ids)} or ${among(sql`m.metric_id`, metricIds)})` : sql`true`
  return db.all<MonitorRow>(sql`select ${columns} ${from} where m.org_id = ${orgId} and ${chosen} order by m.created_at desc, m.id`)
}

export const selectMonitor = (db: Db, orgId: string, id: string) =>
  db.one<MonitorRow>(sql`select ${columns} ${from} where m.org_id = ${orgId} and m.id = ${id}`)

/** Locks the monitor until the transaction ends. */
export const lockMonitor = (db: Db, orgId: string, id: string) =>
  db.one<{ id: string }>(sql`select id from monitors where org_id = ${orgId} and id = ${id} for update`)

export const insertMonitor = (db: Db, row: MonitorRow) =>
  db.run(sql`
    insert into monitors (org_id, id, name, description, type, comparison_operator, threshold, warning_threshold, time_window, actions,
      no_data_status, notify_once, group_retention, aux, compare_to, change_type, evaluation_window, anomaly_algorithm, ai_report_enabled,
      ai_report_instructions, muted_until, metric_id, template, tags, author, author_roles, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.type}, ${row.comparison_operator}, ${row.threshold},
      ${row.warning_threshold}, ${row.time_window}, ${json(row.actions)}, ${row.no_data_status}, ${row.notify_once}, ${row.group_retention},
      ${nullable(row.aux)}, ${row.compare_to}, ${row.change_type}, ${row.evaluation_window}, ${row.anomaly_algorithm}, ${row.ai_report_enabled},
      ${row.ai_report_instructions}, ${row.muted_until}, ${row.metric_id}, ${nullable(row.template)}, ${json(row.tags)},
      ${json(row.author)}, ${row.author_roles}::text[], ${row.created_at},
      ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateMonitorRow = (db: Db, row: MonitorRow) =>
  db.run(sql`
    update monitors set name = ${row.name}, description = ${row.description}, type = ${row.type},
      comparison_operator = ${row.comparison_operator}, threshold = ${row.threshold}, warning_threshold = ${row.warning_threshold},
      time_window = ${row.time_window}, actions = ${json(row.actions)}, no_data_status = ${row.no_data_status},
      notify_once = ${row.notify_once}, group_retention = ${row.group_retention}, aux = ${nullable(row.aux)}, compare_to = ${row.compare_to},
      change_type = ${row.change_type}, evaluation_window = ${row.evaluation_window}, anomaly_algorithm = ${row.anomaly_algorithm},
      ai_report_enabled = ${row.ai_report_enabled}, ai_report_instructions = ${row.ai_report_instructions},
      muted_until = ${row.muted_until}, author = ${json(row.author)},
      author_roles = ${row.author_roles}::text[], modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteMonitor = (db: Db, orgId: string, id: string) => db.run(sql`delete from monitors where org_id = ${orgId} and id = ${id}`)

export const removeFromDowntimes = (db: Db, orgId: string, id: string) =>
  db.run(sql`
    with held as (select id from downtimes where org_id = ${orgId} and covers @> array[${id}::uuid] order by id for update)
    update downtimes set covers = array_remove(covers, ${id}::uuid) where id in (select id from held)`)

export const selectStates = (db: Db, orgId: string) =>
  db.all<Pick<StateRow, 'monitor_id' | 'status' | 'state' | 'last_trigger_ts' | 'looked_at' | 'reads'>>(sql`
    select monitor_id, status, state, last_trigger_ts, looked_at, reads from monitor_states where org_id = ${orgId}`)

/** What lists are sorted and counted by. The states themselves are read for the monitors that are shown. */
export const selectStatuses = (db: Db, orgId: string) =>
  db.all<Pick<StateRow, 'monitor_id' | 'status' | 'last_trigger_ts' | 'looked_at'>>(sql`
    select monitor_id, status, last_trigger_ts, looked_at from monitor_states where org_id = ${orgId}`)

export const selectStatesOf = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<Pick<StateRow, 'monitor_id' | 'status' | 'state' | 'last_trigger_ts' | 'looked_at' | 'reads'>>(sql`
    select monitor_id, status, state, last_trigger_ts, looked_at, reads from monitor_states where org_id = ${orgId} and monitor_id = any(${ids}::uuid[])`)

export const selectState = (db: Db, orgId: string, monitorId: string) =>
  db.one<StateRow>(sql`select * from monitor_states where org_id = ${orgId} and monitor_id = ${monitorId}`)

export const insertState = (db: Db, row: Pick<StateRow, 'org_id' | 'monitor_id' | 'status' | 'state' | 'due_at'>) =>
  db.run(sql`
    insert into monitor_states (org_id, monitor_id, status, state, due_at)
    values (${row.org_id}, ${row.monitor_id}, ${row.status}, ${json(row.state)}, ${row.due_at})`)

/** Makes the next evaluation due now. The new fence discards a running one, which used the old definition. */
export const makeDueNow = (db: Db, orgId: string, monitorId: string, { nowMs, isNew }: { nowMs: number; isNew: boolean }) =>
  db.run(sql`
    update monitor_states set due_at = ${nowMs}, is_new = is_new or ${isNew}, fence = fence + 1, holder = null, lease_until_ms = null
    where org_id = ${orgId} and monitor_id = ${monitorId}`)

/** Makes all monitors of an organization due now, after a change of a downtime. */
export const makeAllDueNow = (db: Db, orgId: string, nowMs: number) =>
  db.run(sql`
    with held as (select monitor_id from monitor_states where org_id = ${orgId} order by monitor_id for update)
    update monitor_states set due_at = least(due_at, ${nowMs}) where monitor_id in (select monitor_id from held)`)

/** Writes SQL NULL instead of JSON null. */
const nullable = (value: object | null | undefined) => (value === null || value === undefined ? null : json(value))
