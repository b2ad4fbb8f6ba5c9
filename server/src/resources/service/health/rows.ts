import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** Counts the monitors that were due before a time, and returns the earliest due time. */
export const selectOverdue = (db: Db, beforeMs: number) =>
  db.one<{ monitors: number; earliest: number | null }>(sql`
    select count(*)::int as monitors, min(due_at) as earliest from monitor_states where due_at < ${beforeMs}`)
