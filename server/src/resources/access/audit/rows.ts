import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

/** The system dataset in which the audit trail is searchable. */
export const AUDIT_COLLECTION = '.audit-trail'
const AUDIT_DATASET = 'audit-trail'

export type AuditRow = {
  org_id: string
  id: string
  time: number
  actor: Identity | undefined
  actor_name: string
  address: string
  user_agent: string
  action: string
  outcome: 'done' | 'refused'
  entity_type: string
  entity_id: string
  before: Record<string, unknown> | null | undefined
  after: Record<string, unknown> | null | undefined
  correlation_id: string
}

export type AuditQuery = {
  from_ts?: number | undefined
  to_ts?: number | undefined
  action?: string | undefined
  entity_id?: string | undefined
  actor_id?: string | undefined
  before_id?: string | undefined
  limit: number
}

/** Writes records and marks an event as due for each, in one statement. */
export const insertAudits = (db: Db, rows: readonly AuditRow[]) =>
  db.run(sql`
    with made as (
      insert into audit (org_id, id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before, after, correlation_id)
      select org_id, id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before, after, correlation_id
      from jsonb_to_recordset(${json(rows)}) as given (org_id uuid, id uuid, time bigint, actor jsonb, actor_name text, address text, user_agent text,
        action text, outcome text, entity_type text, entity_id text, before jsonb, after jsonb, correlation_id text)
      returning id, time)
    insert into audit_events_due (audit_id, time) select id, time from made`)

/** Pages backwards in time. (time, id) is unique, so the row comparison continues exactly after `before_id`. */
export const selectAudit = (db: Db, orgId: string, query: AuditQuery) =>
  db.all<AuditRow>(sql`
    select id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before::json as before, after::json as after,
      correlation_id
    from audit
    where org_id = ${orgId}
      and (${query.from_ts ?? null}::bigint is null or time >= ${query.from_ts ?? null}::bigint)
      and (${query.to_ts ?? null}::bigint is null or time < ${query.to_ts ?? null}::bigint)
      and (${query.action ?? null}::text is null or action = ${query.action ?? null}::text)
      and (${query.entity_id ?? null}::text is null or entity_id = ${query.entity_id ?? null}::text)
      and (${query.actor_id ?? null}::text is null or actor ->> 'id' = ${query.actor_id ?? null}::text)
      and (${query.before_id ?? null}::uuid is null
        or (time, id) < (select time, id from audit where org_id = ${orgId} and id = ${query.before_id ?? null}::uuid))
    order by time desc, id desc
    limit ${query.limit}`)

export type DueRow = AuditRow & { org_number: number; log_id: string }

/** The oldest records whose events are due, with the dataset of these events. */
export const selectDue = (db: Db, rowsMax: number) =>
  db.all<DueRow>(sql`
    select a.*, a.before::json as before, a.after::json as after, o.number as org_number, d.id as log_id
    from audit_events_due due
      join audit a on a.id = due.audit_id
      join organisations o on o.id = a.org_id
      join datasets d on d.org_id = a.org_id and d.collection = ${AUDIT_COLLECTION} and d.dataset = ${AUDIT_DATASET}
    order by due.time, due.audit_id limit ${rowsMax}`)

export const deleteDue = (db: Db, ids: readonly string[]) => db.run(sql`delete from audit_events_due where audit_id = any (${ids}::uuid[])`)
