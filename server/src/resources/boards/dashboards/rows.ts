import type { DashboardLayout, Identity, Tags, Template } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { among, type ChangedIds } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'

export type DashboardRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  widget_ids: readonly string[]
  layout: DashboardLayout
  tags: Tags
  template: Template | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectDashboards = (db: Db, orgId: string, changed?: ChangedIds) =>
  db.all<DashboardRow>(
    sql`select *, template::json as template from dashboards where org_id = ${orgId} and ${among(sql`id`, changed?.get('dashboards'))} order by created_at desc, id`,
  )

export const insertDashboard = (db: Db, row: DashboardRow) =>
  db.run(sql`
    insert into dashboards (org_id, id, name, description, widget_ids, layout, tags, template, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.widget_ids}::uuid[], ${json(row.layout)}, ${json(row.tags)},
      ${nullable(row.template)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateDashboardRow = (db: Db, row: DashboardRow) =>
  db.run(sql`
    update dashboards set name = ${row.name}, description = ${row.description}, widget_ids = ${row.widget_ids}::uuid[],
      layout = ${json(row.layout)}, tags = ${json(row.tags)}, template = ${nullable(row.template)}, modified_at = ${row.modified_at},
      modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteDashboard = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from dashboards where org_id = ${orgId} and id = ${id}`)

const nullable = (value: object | null) => (value === null ? null : json(value))
