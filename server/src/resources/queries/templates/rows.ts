import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type TemplateRow<Definition = object> = {
  org_id: string
  id: string
  kind: string
  definition: Definition
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

/** The stored definition has the type that belongs to its kind. */
export const selectTemplates = <Definition>(db: Db, orgId: string, kind: string) =>
  db.all<TemplateRow<Definition>>(
    sql`select *, definition::json as definition from templates where org_id = ${orgId} and kind = ${kind} order by created_at desc, id`,
  )

export const lockTemplate = <Definition>(db: Db, orgId: string, kind: string, id: string) =>
  db.one<TemplateRow<Definition>>(
    sql`select *, definition::json as definition from templates where org_id = ${orgId} and kind = ${kind} and id = ${id} for update`,
  )

export const insertTemplate = (db: Db, row: TemplateRow) =>
  db.run(sql`
    insert into templates (org_id, id, kind, definition, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.kind}, ${json(row.definition)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})`)

export const updateTemplateRow = (db: Db, row: TemplateRow) =>
  db.run(sql`
    update templates set definition = ${json(row.definition)}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and kind = ${row.kind} and id = ${row.id}`)

export const deleteTemplate = (db: Db, orgId: string, kind: string, id: string) =>
  db.run(sql`delete from templates where org_id = ${orgId} and kind = ${kind} and id = ${id}`)
