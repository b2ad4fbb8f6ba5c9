import type { Identity, Retention } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { among } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'

/** The rule of a collection or of the organization. */
export type RuleRow = {
  org_id: string
  id: string
  entity: 'LOG_SET' | 'ORGANISATION'
  collection: string
  retention: Retention
  created_at: number
  created_by: Identity | null
  modified_at: number | null
  modified_by: Identity | null
}

export const selectRules = (db: Db, orgId: string) =>
  db.all<RuleRow>(sql`select * from retention_rules where org_id = ${orgId} order by created_at desc, id`)

/** The rules of all organizations: one job removes their expired events. */
export const selectAllRules = (db: Db) => db.all<RuleRow>(sql`select * from retention_rules`)

/** Returns nothing if there is a rule for that target; the unique index resolves the race. */
export const insertRule = (db: Db, row: RuleRow) =>
  db.one<RuleRow>(sql`
    insert into retention_rules (org_id, id, entity, collection, retention, created_at, created_by)
    values (${row.org_id}, ${row.id}, ${row.entity}, ${row.collection}, ${row.retention}, ${row.created_at}, ${json(row.created_by)})
    on conflict (org_id, entity, collection) do nothing returning *`)

export const updateRuleRow = (db: Db, row: Pick<RuleRow, 'org_id' | 'id' | 'retention' | 'modified_at' | 'modified_by'>) =>
  db.one<RuleRow>(sql`
    update retention_rules set retention = ${row.retention}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id} returning *`)

export const deleteRule = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from retention_rules where org_id = ${orgId} and id = ${id}`)

export type LivingRow = { org_id: string; id: string; collection: string; retention: Retention | null }

/** The datasets of all organizations that are not deleted. */
export const selectLiving = (db: Db) =>
  db.all<LivingRow>(sql`select org_id, id, collection, retention from datasets where deleted_at is null`)

/** Includes deleted datasets whose events are not removed yet. */
export const selectKnownLogs = (db: Db) => db.all<{ id: string }>(sql`select id from datasets`)

export const selectOwnTombstones = (db: Db, orgId: string) =>
  db.all<{ log_id: string; collection: string; dataset: string; deleted_at: number }>(sql`
    select id as log_id, collection, dataset, deleted_at from datasets where org_id = ${orgId} and deleted_at is not null order by deleted_at, id`)

export type RemovedRow = { log_id: string; events: number; last_events: number; last_at: number; before_ms: number }

export const selectRemoved = (db: Db, orgId: string, logIds?: readonly string[]) =>
  db.all<RemovedRow>(
    sql`select log_id, events, last_events, last_at, before_ms from event_removals where org_id = ${orgId} and ${among(sql`log_id`, logIds)}`,
  )

/** Adds to the number of removed events; ignores datasets deleted meanwhile. */
export const addRemoved = (db: Db, nowMs: number, removed: readonly { log_id: string; events: number; before_ms: number }[]) =>
  db.run(sql`
    insert into event_removals as r (org_id, log_id, events, last_events, last_at, before_ms)
    select datasets.org_id, given.log_id, given.events, given.events, ${nowMs}::bigint, given.before_ms
    from unnest(${removed.map(({ log_id }) => log_id)}::uuid[], ${removed.map(({ events }) => events)}::bigint[],
      ${removed.map(({ before_ms }) => before_ms)}::bigint[]) as given (log_id, events, before_ms)
    join datasets on datasets.id = given.log_id
    order by given.log_id
    on conflict (log_id) do update set events = r.events + excluded.events, last_events = excluded.last_events, last_at = excluded.last_at,
      before_ms = excluded.before_ms`)

/** The stored state of a recurring job. */
export const selectJobPayload = (db: Db, kind: string) =>
  db.one<{ payload: Record<string, unknown> }>(sql`select payload from jobs where kind = ${kind} and key = ''`)
