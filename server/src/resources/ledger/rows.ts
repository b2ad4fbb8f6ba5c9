import type { Db } from '../../meta/meta.ts'
import { sql } from '../../meta/sql.ts'

/** selectLivingLogs gives the datasets of every organisation whose events are all kept; the recount is about the whole deployment. */
export const selectLivingLogs = (db: Db) => db.all<{ id: string }>(sql`select id from datasets where deleted_at is null`)
