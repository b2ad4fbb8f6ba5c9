import type { Identity, MetricFormula, MetricQuery, Template } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { among, type ChangedIds } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'

export type MetricDefinitionRow = {
  org_id: string
  id: string
  name: string | null
  description: string | null
  queries: MetricQuery[]
  formulas: MetricFormula[] | null
  template: Template | null
  /** The dashboard or widget for which it was created from a template. */
  made_for?: string | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectMetricDefinitions = (db: Db, orgId: string, changed?: ChangedIds) =>
  db.all<MetricDefinitionRow>(
    sql`select *, template::json as template from metric_definitions where org_id = ${orgId} and ${among(sql`id`, changed?.get('metric_definitions'))} order by created_at desc, id`,
  )

export const lockMetricDefinition = (db: Db, orgId: string, id: string) =>
  db.one<MetricDefinitionRow>(
    sql`select *, template::json as template from metric_definitions where org_id = ${orgId} and id = ${id} for update`,
  )

export const insertMetricDefinition = (db: Db, row: MetricDefinitionRow) =>
  db.run(sql`
    insert into metric_definitions (org_id, id, name, description, queries, formulas, template, made_for, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${json(row.queries)}, ${nullable(row.formulas)},
      ${nullable(row.template)}, ${row.made_for ?? null}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateMetricDefinitionRow = (db: Db, row: MetricDefinitionRow) =>
  db.run(sql`
    update metric_definitions set name = ${row.name}, description = ${row.description}, queries = ${json(row.queries)},
      formulas = ${nullable(row.formulas)}, template = ${nullable(row.template)},
      made_for = ${row.made_for ?? null}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteMetricDefinition = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from metric_definitions where org_id = ${orgId} and id = ${id}`)

/** Finds a record that would have no data without the definition. */
export const selectUser = (db: Db, orgId: string, id: string) =>
  db.one<{ noun: string; id: string }>(sql`
    select 'monitor' as noun, id from monitors where org_id = ${orgId} and metric_id = ${id}
    union all
    select 'widget' as noun, id from widgets where org_id = ${orgId} and ${id}::uuid = any (metric_ids)
    limit 1`)

/** Reads definitions and blocks their deletion until the transaction ends. */
export const selectShared = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<{ id: string }>(sql`select id from metric_definitions where org_id = ${orgId} and id = any (${ids}::uuid[]) order by id for share`)

export const lockMadeFor = (db: Db, orgId: string, madeFor: string) =>
  db.all<MetricDefinitionRow>(
    sql`select *, template::json as template from metric_definitions where org_id = ${orgId} and made_for = ${madeFor} order by id for update`,
  )

export const lockUnusedMadeFor = (db: Db, orgId: string, madeFor: string) =>
  db.all<MetricDefinitionRow>(sql`
    select d.*, d.template::json as template from metric_definitions d where org_id = ${orgId} and made_for = ${madeFor}
      and not exists (select from widgets w where w.org_id = ${orgId} and d.id = any (w.metric_ids))
      and not exists (select from monitors m where m.org_id = ${orgId} and m.metric_id = d.id)
    order by id for update`)

/** Writes SQL NULL instead of JSON null. */
const nullable = (value: object | null) => (value === null ? null : json(value))
