import type { Identity, Tags, Template, Widget, WidgetLayout } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { among, type ChangedIds } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'

export type WidgetRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  type: Widget['type']
  metric_ids: readonly string[]
  widget_ids: readonly string[]
  layout: { widget_layouts: WidgetLayout[] }
  aux: Record<string, unknown> | null
  tags: Tags
  template: Template | null
  /** The dashboard or widget for which it was created from a template. */
  made_for: string | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

/** What callers keep in any form is read to the last digit. */
const columns = sql`*, aux::json as aux, template::json as template`

/**
 * Serializes changes of widget containment in an organization: two concurrent additions must not form a cycle, and nothing may be added to
 * a widget being deleted.
 */
export const lockWidgets = (db: Db, orgId: string) => db.run(sql`select 1 from organisations where id = ${orgId} for no key update`)

export const selectWidgets = (db: Db, orgId: string, changed?: ChangedIds) =>
  db.all<WidgetRow>(
    sql`select ${columns} from widgets where org_id = ${orgId} and ${among(sql`id`, changed?.get('widgets'))} order by created_at desc, id`,
  )

export const insertWidget = (db: Db, row: WidgetRow) =>
  db.run(sql`
    insert into widgets (org_id, id, name, description, type, metric_ids, widget_ids, layout, aux, tags, template, made_for, created_at,
      created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.type}, ${row.metric_ids}::uuid[], ${row.widget_ids}::uuid[],
      ${json(row.layout)}, ${nullable(row.aux)}, ${json(row.tags)}, ${nullable(row.template)}, ${row.made_for}, ${row.created_at},
      ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateWidgetRow = (db: Db, row: WidgetRow) =>
  db.run(sql`
    update widgets set name = ${row.name}, description = ${row.description}, type = ${row.type}, metric_ids = ${row.metric_ids}::uuid[],
      widget_ids = ${row.widget_ids}::uuid[], layout = ${json(row.layout)}, aux = ${nullable(row.aux)}, tags = ${json(row.tags)},
      template = ${nullable(row.template)}, made_for = ${row.made_for}, modified_at = ${row.modified_at},
      modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteWidget = (db: Db, orgId: string, id: string) => db.run(sql`delete from widgets where org_id = ${orgId} and id = ${id}`)

const nullable = (value: object | null) => (value === null ? null : json(value))

export const lockWidget = (db: Db, orgId: string, id: string) =>
  db.one<WidgetRow>(sql`select ${columns} from widgets where org_id = ${orgId} and id = ${id} for update`)

export const lockWidgetsMadeFor = (db: Db, orgId: string, madeFor: string) =>
  db.all<WidgetRow>(sql`select ${columns} from widgets where org_id = ${orgId} and made_for = ${madeFor} order by id for update`)

type RemovedWidget = { id: string; modified_at: number; modified_by: Identity }

/** Removes a widget from every widget, with its layout position. */
export const removeFromWidgets = (db: Db, orgId: string, { id, modified_at, modified_by }: RemovedWidget) =>
  db.run(sql`
    update widgets set widget_ids = array_remove(widget_ids, ${id}::uuid), modified_at = ${modified_at}, modified_by = ${json(modified_by)},
      layout = jsonb_build_object('widget_layouts', (
        select coalesce(jsonb_agg(place order by at), '[]') from jsonb_array_elements(layout -> 'widget_layouts') with ordinality as places (place, at)
        where place ->> 'id' <> ${id}::text))
    where org_id = ${orgId} and ${id}::uuid = any (widget_ids)`)

/** Removes a widget from every dashboard, with its layout position. */
export const removeFromDashboards = (db: Db, orgId: string, { id, modified_at, modified_by }: RemovedWidget) =>
  db.run(sql`
    update dashboards set widget_ids = array_remove(widget_ids, ${id}::uuid), modified_at = ${modified_at},
      modified_by = ${json(modified_by)}, layout = layout || (
        select coalesce(jsonb_object_agg('widget_layouts', places), '{}') from (
          select coalesce(jsonb_agg(place order by at), '[]') as places
          from jsonb_array_elements(layout -> 'widget_layouts') with ordinality as listed (place, at)
          where place ->> 'id' <> ${id}::text) as kept
        where layout -> 'widget_layouts' is not null)
    where org_id = ${orgId} and ${id}::uuid = any (widget_ids)`)
