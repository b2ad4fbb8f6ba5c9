import type { Db } from './driver.ts'
import { sql } from './sql.ts'

type Take = { subject: string; windowStartMs: number; take: number; limit: number }

/**
 * takeFromWindow takes up to `take` of what is left of a limit in the window of a subject, and gives what was granted, 0 to take. One statement:
 * however many processes take at once, they are never granted more than the limit together. The subject names the organisation first.
 */
export async function takeFromWindow(db: Db, { subject, windowStartMs, take, limit }: Take): Promise<number> {
  const row = await db.one<{ granted: number }>(sql`
    insert into rate_windows as w (subject, window_start_ms, taken, granted)
    values (${subject}, ${windowStartMs}, least(${take}::bigint, ${limit}::bigint), least(${take}::bigint, ${limit}::bigint))
    on conflict (subject, window_start_ms) do update set
      taken = w.taken + greatest(0, least(${take}::bigint, ${limit}::bigint - w.taken)),
      granted = greatest(0, least(${take}::bigint, ${limit}::bigint - w.taken))
    returning granted`)
  return row?.granted ?? 0
}

/** giveBack returns what was granted and not used. */
export const giveBack = (db: Db, { subject, windowStartMs, unused }: { subject: string; windowStartMs: number; unused: number }) =>
  db.run(sql`
    update rate_windows set taken = greatest(0, taken - ${unused}::bigint)
    where subject = ${subject} and window_start_ms = ${windowStartMs}`)

/** removeWindows forgets windows that began before the given time, and gives their number. */
export const removeWindows = (db: Db, beforeMs: number): Promise<number> =>
  db.run(sql`delete from rate_windows where window_start_ms < ${beforeMs}`)
