import type { Identity } from '@dendro/api'
import type { Db } from '../../meta/meta.ts'
import { json, sql } from '../../meta/sql.ts'

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

export type AuditQuestion = {
  from_ts?: number | undefined
  to_ts?: number | undefined
  action?: string | undefined
  entity_id?: string | undefined
  actor_id?: string | undefined
  before_id?: string | undefined
  limit: number
}

export const insertAudit = (db: Db, row: AuditRow) =>
  db.run(sql`
    insert into audit (org_id, id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before, after, correlation_id)
    values (${row.org_id}, ${row.id}, ${row.time}, ${json(row.actor)}, ${row.actor_name}, ${row.address}, ${row.user_agent}, ${row.action},
      ${row.outcome}, ${row.entity_type}, ${row.entity_id}, ${json(row.before)}, ${json(row.after)}, ${row.correlation_id})`)

/** insertAudits writes many records in one statement. */
export const insertAudits = (db: Db, rows: readonly AuditRow[]) =>
  db.run(sql`
    insert into audit (org_id, id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before, after, correlation_id)
    select org_id, id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before, after, correlation_id
    from jsonb_to_recordset(${json(rows)}) as given (org_id uuid, id uuid, time bigint, actor jsonb, actor_name text, address text, user_agent text,
      action text, outcome text, entity_type text, entity_id text, before jsonb, after jsonb, correlation_id text)`)

/** selectAudit reads backwards in time; (time, id) is unique, so the row comparison continues exactly behind `before_id`. */
export const selectAudit = (db: Db, orgId: string, question: AuditQuestion) =>
  db.all<AuditRow>(sql`
    select id, time, actor, actor_name, address, user_agent, action, outcome, entity_type, entity_id, before, after, correlation_id
    from audit
    where org_id = ${orgId}
      and (${question.from_ts ?? null}::bigint is null or time >= ${question.from_ts ?? null}::bigint)
      and (${question.to_ts ?? null}::bigint is null or time < ${question.to_ts ?? null}::bigint)
      and (${question.action ?? null}::text is null or action = ${question.action ?? null}::text)
      and (${question.entity_id ?? null}::text is null or entity_id = ${question.entity_id ?? null}::text)
      and (${question.actor_id ?? null}::text is null or actor ->> 'id' = ${question.actor_id ?? null}::text)
      and (${question.before_id ?? null}::uuid is null
        or (time, id) < (select time, id from audit where org_id = ${orgId} and id = ${question.before_id ?? null}::uuid))
    order by time desc, id desc
    limit ${question.limit}`)
