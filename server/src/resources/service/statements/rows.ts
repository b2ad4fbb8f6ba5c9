import type { Identity, Statement } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type StatementSetRow = {
  org_id: string
  id: string
  project_id: string
  version: string
  repo_url: string
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

/** Returns the id of the set of a project and version, and whether it is new. */
export const upsertStatementSet = (db: Db, row: StatementSetRow) =>
  db.one<{ id: string }>(sql`
    insert into statement_sets (org_id, id, project_id, version, repo_url, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.project_id}, ${row.version}, ${row.repo_url}, ${row.created_at}, ${json(row.created_by)},
      ${row.modified_at}, ${json(row.modified_by)})
    on conflict (org_id, project_id, version) do update set repo_url = excluded.repo_url, modified_at = excluded.modified_at,
      modified_by = excluded.modified_by
    returning id`)

export const deleteStatements = (db: Db, orgId: string, setId: string) =>
  db.run(sql`delete from statements where org_id = ${orgId} and set_id = ${setId}`)

export const insertStatements = (db: Db, orgId: string, setId: string, statements: readonly Statement[]) =>
  db.run(sql`
    insert into statements (org_id, set_id, id, message, file, line)
    select ${orgId}, ${setId}, given.* from unnest(${statements.map(({ id }) => id)}::text[], ${statements.map(({ message }) => message)}::text[],
      ${statements.map(({ file }) => file)}::text[], ${statements.map(({ line }) => line)}::bigint[]) as given`)

/** The set of a version, or the latest one. */
export const selectStatementSet = (db: Db, orgId: string, projectId: string, version: string | undefined) =>
  db.one<StatementSetRow>(sql`
    select * from statement_sets where org_id = ${orgId} and project_id = ${projectId} and version = coalesce(${version ?? null}::text, version)
    order by modified_at desc, created_at desc limit 1`)

export const selectStatements = (db: Db, orgId: string, setId: string) =>
  db.all<Statement>(
    sql`select id, message, file, line from statements where org_id = ${orgId} and set_id = ${setId} order by file, line, id`,
  )

export type FoundStatement = Statement & Pick<StatementSetRow, 'project_id' | 'repo_url' | 'version'>

export const selectStatement = (db: Db, orgId: string, id: string) =>
  db.one<FoundStatement>(sql`
    select s.id, s.message, s.file, s.line, v.project_id, v.repo_url, v.version
    from statements s join statement_sets v on v.id = s.set_id
    where s.org_id = ${orgId} and s.id = ${id} order by v.modified_at desc, v.created_at desc limit 1`)
