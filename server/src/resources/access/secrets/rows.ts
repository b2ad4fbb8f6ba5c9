import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

export const selectDataKey = (db: Db, orgId: string) =>
  db.one<{ wrapped: Buffer }>(sql`select wrapped from data_keys where org_id = ${orgId}`)

/** Keeps an existing key that another transaction created first. */
export const insertDataKey = (db: Db, orgId: string, wrapped: Buffer) =>
  db.run(sql`insert into data_keys (org_id, wrapped) values (${orgId}, ${wrapped}) on conflict (org_id) do nothing`)
