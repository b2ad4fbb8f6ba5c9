import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** selectOverdue counts the monitors whose evaluation should have happened before a time, and gives the earliest of these times. */
export const selectOverdue = (db: Db, beforeMs: number) =>
  db.one<{ monitors: number; earliest: number | null }>(sql`
    select count(*)::int as monitors, min(due_at) as earliest from monitor_states where due_at < ${beforeMs}`)
