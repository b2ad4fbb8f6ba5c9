import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** selectLivingLogs gives the datasets of every organisation whose events are all kept; the recount is about the whole deployment. */
export const selectLivingLogs = (db: Db) => db.all<{ id: string }>(sql`select id from datasets where deleted_at is null`)

/** selectRecount is what the recount wrote down when it ran last. */
export const selectRecount = (db: Db, kind: string) =>
  db.one<{ payload: Record<string, unknown> }>(sql`select payload from jobs where kind = ${kind} and key = ''`)
