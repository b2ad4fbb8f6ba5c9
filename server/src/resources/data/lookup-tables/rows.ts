import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type LookupTableRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  key_column: string
  columns: string[]
  rows: number
  bytes: number
  /** In hexadecimal; null for rows of before there was this column. */
  sha256: string | null
  version: number
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectLookupTables = (db: Db, orgId: string) =>
  db.all<LookupTableRow>(sql`select * from lookup_tables where org_id = ${orgId} order by name, id`)

export const lockLookupTable = (db: Db, orgId: string, id: string) =>
  db.one<LookupTableRow>(sql`select * from lookup_tables where org_id = ${orgId} and id = ${id} for update`)

/** Tables of an organization change one after the other, so that they keep its limits. */
export const lockTablesOf = (db: Db, orgId: string) => db.one(sql`select id from organisations where id = ${orgId} for no key update`)

export const insertLookupTable = (db: Db, row: LookupTableRow) =>
  db.run(sql`
    insert into lookup_tables (org_id, id, name, description, key_column, columns, rows, bytes, sha256, version, created_at, created_by,
      modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.key_column}, ${row.columns}::text[], ${row.rows}, ${row.bytes},
      ${row.sha256}, ${row.version}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateLookupTable = (db: Db, row: LookupTableRow) =>
  db.run(sql`
    update lookup_tables set description = ${row.description}, columns = ${row.columns}::text[], rows = ${row.rows}, bytes = ${row.bytes},
      sha256 = ${row.sha256}, version = ${row.version},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteLookupTable = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from lookup_tables where org_id = ${orgId} and id = ${id}`)

/** Keeps the file of a version instead of that of the version before. */
export const replaceFile = (db: Db, id: string, version: number, file: Uint8Array) =>
  db.run(sql`
    insert into lookup_table_files (table_id, version, file) values (${id}, ${version}, ${file})
    on conflict (table_id) do update set version = excluded.version, file = excluded.file`)

export const selectFile = (db: Db, id: string) =>
  db.one<{ version: number; file: Buffer }>(sql`select version, file from lookup_table_files where table_id = ${id}`)
