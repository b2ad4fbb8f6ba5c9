import type { InsightAction, InsightConfidence } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { InsightFinding } from './finding.ts'

export type InsightRow = {
  org_id: string
  id: string
  name: InsightFinding['name']
  subject: string
  entity_type: InsightFinding['entityType']
  entity_id: string
  evidence: string
  confidence: InsightConfidence
  action: InsightAction
  since_ms: number
  seen_ms: number
  modified_at: number
}

/** The newest first. */
export const selectInsights = (db: Db, orgId: string) =>
  db.all<InsightRow>(sql`select * from insights where org_id = ${orgId} order by since_ms desc, id`)

export const selectInsight = (db: Db, orgId: string, id: string) =>
  db.one<InsightRow>(sql`select * from insights where org_id = ${orgId} and id = ${id}`)

/** Inserts insights, or updates those of the same subject. */
export const upsertInsights = (db: Db, rows: readonly InsightRow[]) =>
  db.run(sql`
    insert into insights as i (org_id, id, name, subject, entity_type, entity_id, evidence, confidence, action, since_ms, seen_ms, modified_at)
    select org_id, id, name, subject, entity_type, entity_id, evidence, confidence, action, since_ms, seen_ms, modified_at
    from jsonb_to_recordset(${json(rows)}) as given (org_id uuid, id uuid, name text, subject text, entity_type text, entity_id uuid, evidence text,
      confidence text, action jsonb, since_ms bigint, seen_ms bigint, modified_at bigint)
    order by name, subject
    on conflict (org_id, name, subject) do update set evidence = excluded.evidence, confidence = excluded.confidence, action = excluded.action,
      since_ms = excluded.since_ms, seen_ms = excluded.seen_ms, modified_at = excluded.modified_at`)

export const deleteInsights = (db: Db, orgId: string, ids: readonly string[]) =>
  db.run(sql`delete from insights where org_id = ${orgId} and id = any(${[...ids]}::uuid[])`)
