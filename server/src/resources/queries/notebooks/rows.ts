import type { Identity, NotebookStep, SearchDetails } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

type NotebookHead = {
  org_id: string
  id: string
  name: string
  description: string | null
  version: number
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export type NotebookRow = NotebookHead & { steps: readonly NotebookStep[] }

/** What a list needs of a notebook: its queries decide who may see it, its words stay in the store. */
export type ListedNotebookRow = NotebookHead & { step_count: number; searches: readonly SearchDetails[] }

export const selectNotebooks = (db: Db, orgId: string) =>
  db.all<ListedNotebookRow>(sql`
    select org_id, id, name, description, version, created_at, created_by, modified_at, modified_by,
      jsonb_array_length(steps) as step_count, jsonb_path_query_array(steps, '$[*].search_details') as searches
    from notebooks where org_id = ${orgId} order by modified_at desc, id`)

export const selectNotebook = (db: Db, orgId: string, id: string) =>
  db.one<NotebookRow>(sql`select * from notebooks where org_id = ${orgId} and id = ${id}`)

export const lockNotebook = (db: Db, orgId: string, id: string) =>
  db.one<NotebookRow>(sql`select * from notebooks where org_id = ${orgId} and id = ${id} for update`)

export const insertNotebook = (db: Db, row: NotebookRow) =>
  db.run(sql`
    insert into notebooks (org_id, id, name, description, steps, version, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${json(row.steps)}, ${row.version},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateNotebookRow = (db: Db, row: NotebookRow) =>
  db.run(sql`
    update notebooks set name = ${row.name}, description = ${row.description}, steps = ${json(row.steps)}, version = ${row.version},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteNotebook = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from notebooks where org_id = ${orgId} and id = ${id}`)
