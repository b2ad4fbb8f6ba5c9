import type { Identity, SearchDetails, Tags, Template } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type SavedSearchRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  search_details: SearchDetails
  log_ids: string[] | null
  template: Template | null
  tags: Tags
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectSavedSearches = (db: Db, orgId: string) =>
  db.all<SavedSearchRow>(sql`select *, template::json as template from saved_searches where org_id = ${orgId} order by created_at desc, id`)

export const lockSavedSearch = (db: Db, orgId: string, id: string) =>
  db.one<SavedSearchRow>(sql`select *, template::json as template from saved_searches where org_id = ${orgId} and id = ${id} for update`)

export const insertSavedSearch = (db: Db, row: SavedSearchRow) =>
  db.run(sql`
    insert into saved_searches (org_id, id, name, description, search_details, log_ids, template, tags, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${json(row.search_details)}, ${row.log_ids}::uuid[],
      ${row.template === null ? null : json(row.template)}, ${json(row.tags)},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateSavedSearchRow = (db: Db, row: SavedSearchRow) =>
  db.run(sql`
    update saved_searches set name = ${row.name}, description = ${row.description}, search_details = ${json(row.search_details)},
      log_ids = ${row.log_ids}::uuid[], modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteSavedSearch = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from saved_searches where org_id = ${orgId} and id = ${id}`)
