import type { Identity, IngestAction, IngestRule } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type IngestRuleRow = {
  org_id: string
  id: string
  position: number
  version: number
  name: string
  description: string | null
  enabled: boolean
  source_ids: string[] | null
  source_expr: string | null
  condition: string
  action: IngestAction
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

/** The rules of an organization in their order. */
export const selectIngestRules = (db: Db, orgId: string) =>
  db.all<IngestRuleRow>(sql`select * from ingest_rules where org_id = ${orgId} order by position, created_at, id`)

/** Whether any organization has an enabled rule with an action. */
export const selectHasRule = async (db: Db, type: IngestAction['type']): Promise<boolean> =>
  (
    await db.one<{ has_rule: boolean }>(
      sql`select exists (select from ingest_rules where enabled and action ->> 'type' = ${type}) as has_rule`,
    )
  )?.has_rule ?? false

/** Changes to the rules of an organization happen one after the other, also to the first one: they keep their positions without gaps. */
export const lockOrderOfRules = (db: Db, orgId: string) => db.one(sql`select id from organisations where id = ${orgId} for no key update`)

export const lockIngestRule = (db: Db, orgId: string, id: string) =>
  db.one<IngestRuleRow>(sql`select * from ingest_rules where org_id = ${orgId} and id = ${id} for update`)

export const insertIngestRule = (db: Db, row: IngestRuleRow) =>
  db.run(sql`
    insert into ingest_rules (org_id, id, position, version, name, description, enabled, source_ids, source_expr, condition, action,
      created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.position}, ${row.version}, ${row.name}, ${row.description}, ${row.enabled},
      ${row.source_ids}::uuid[], ${row.source_expr}, ${row.condition}, ${json(row.action)},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateIngestRuleRow = (db: Db, row: IngestRuleRow) =>
  db.run(sql`
    update ingest_rules set position = ${row.position}, version = ${row.version}, name = ${row.name}, description = ${row.description},
      enabled = ${row.enabled}, source_ids = ${row.source_ids}::uuid[], source_expr = ${row.source_expr}, condition = ${row.condition},
      action = ${json(row.action)}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteIngestRule = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from ingest_rules where org_id = ${orgId} and id = ${id}`)

/** Moves the rules after a deleted one up. */
export const closeGap = (db: Db, orgId: string, position: number) =>
  db.run(sql`update ingest_rules set position = position - 1 where org_id = ${orgId} and position > ${position}`)

/** Keeps a version, and deletes those that are older than the last `kept`. */
export async function insertRuleVersion(db: Db, orgId: string, rule: IngestRule, kept: number): Promise<void> {
  await db.run(
    sql`insert into ingest_rule_versions (org_id, rule_id, version, rule) values (${orgId}, ${rule.id}, ${rule.version}, ${json(rule)})`,
  )
  await db.run(sql`delete from ingest_rule_versions where rule_id = ${rule.id} and version <= ${rule.version - kept}`)
}

/** The versions of a rule, newest first. */
export const selectRuleVersions = (db: Db, orgId: string, id: string) =>
  db.all<{ rule: IngestRule }>(sql`
    select rule from ingest_rule_versions where org_id = ${orgId} and rule_id = ${id} order by version desc`)
