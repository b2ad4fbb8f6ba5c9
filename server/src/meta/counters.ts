import type { Db } from './driver.ts'
import { removeOld } from './old-rows.ts'
import { sql } from './sql.ts'

type Window = { subject: string; windowStartMs: number }

/**
 * takeFromWindow takes up to `take` of what is left of a limit in the window of a subject, and tells what was granted (0 to take) and how much
 * of the window is used now. One statement: however many processes take at once, they are never granted more than the limit together. The
 * subject names the organisation first.
 */
export async function takeFromWindow(
  db: Db,
  { subject, windowStartMs, take, limit }: Window & { take: number; limit: number },
): Promise<{ granted: number; used: number }> {
  const row = await db.one<{ granted: number; used: number }>(sql`
    insert into rate_windows as w (subject, window_start_ms, used, granted)
    values (${subject}, ${windowStartMs}, least(${take}::bigint, ${limit}::bigint), least(${take}::bigint, ${limit}::bigint))
    on conflict (subject, window_start_ms) do update set
      used = w.used + greatest(0, least(${take}::bigint, ${limit}::bigint - w.used)),
      granted = greatest(0, least(${take}::bigint, ${limit}::bigint - w.used))
    returning granted, used`)
  if (!row) throw new Error('taking from a window gave no row')
  return row
}

/** giveBackToWindow returns what was granted and not used. */
export async function giveBackToWindow(db: Db, { subject, windowStartMs, count }: Window & { count: number }): Promise<void> {
  await db.run(sql`
    update rate_windows set used = greatest(0, used - ${count}::bigint)
    where subject = ${subject} and window_start_ms = ${windowStartMs}`)
}

/** removeWindows forgets the windows, of every subject, that began before the given time, and gives their number. */
export const removeWindows = (db: Db, beforeMs: number): Promise<number> => removeOld(db, 'rate_windows', 'window_start_ms', beforeMs)
