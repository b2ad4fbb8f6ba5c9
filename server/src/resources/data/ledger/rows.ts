import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** The datasets of all organizations that are not deleted; the recount covers the whole deployment. */
export const selectLivingLogs = (db: Db) => db.all<{ id: string }>(sql`select id from datasets where deleted_at is null`)

/** The stored state of the last recount. */
export const selectRecount = (db: Db, kind: string) =>
  db.one<{ payload: Record<string, unknown> }>(sql`select payload from jobs where kind = ${kind} and key = ''`)
