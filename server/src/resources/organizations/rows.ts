import type { Db } from '../../meta/meta.ts'
import { sql } from '../../meta/sql.ts'

export const selectFirstOrganization = (db: Db) =>
  db.one<{ id: string; number: number }>(sql`select id, number from organisations order by number limit 1`)

/** insertOrganization gives nothing back when the name is taken; the unique name decides between two who ask at once. */
export const insertOrganization = (db: Db, row: { id: string; name: string; created_at: number }) =>
  db.one<{ id: string }>(sql`
    insert into organisations (id, name, created_at, modified_at) values (${row.id}, ${row.name}, ${row.created_at}, ${row.created_at})
    on conflict (name) do nothing returning id`)
