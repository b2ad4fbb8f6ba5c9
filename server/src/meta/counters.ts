import { Failure } from '../kernel/errors.ts'
import type { Db } from './driver.ts'
import { removeOld } from './old-rows.ts'
import { sql } from './sql.ts'

type RateWindow = { subject: string; windowStartMs: number }

/**
 * Takes up to `take` from what is left of a limit in a rate window. Returns what was granted, and how much of the window is used now (use
 * `take` 0 to read it). It is one statement, so concurrent processes are never granted more than the limit together. The subject begins
 * with the organization.
 */
export async function takeFromWindow(
  db: Db,
  { subject, windowStartMs, take, limit }: RateWindow & { take: number; limit: number },
): Promise<{ granted: number; used: number }> {
  const row = await db.one<{ granted: number; used: number }>(sql`
    insert into rate_windows as w (subject, window_start_ms, used, granted)
    values (${subject}, ${windowStartMs}, least(${take}::bigint, ${limit}::bigint), least(${take}::bigint, ${limit}::bigint))
    on conflict (subject, window_start_ms) do update set
      used = w.used + greatest(0, least(${take}::bigint, ${limit}::bigint - w.used)),
      granted = greatest(0, least(${take}::bigint, ${limit}::bigint - w.used))
    returning granted, used`)
  if (!row) throw new Error('updating a rate window returned no row')
  return row
}

const TEST_WINDOW_MS = 60_000

/**
 * Limits the tests of addresses by an organization in a minute, over all processes, so that they cannot be used to scan a network. `refusal` names the
 * limit; the subject begins with the organization.
 */
export async function countTest(
  db: Db,
  { subject, limit, refusal }: { subject: string; limit: number; refusal: string },
  nowMs: number,
): Promise<void> {
  const windowStartMs = nowMs - (nowMs % TEST_WINDOW_MS)
  const { granted } = await takeFromWindow(db, { subject, windowStartMs, take: 1, limit })
  if (granted > 0) return
  const seconds = Math.max(1, Math.ceil((windowStartMs + TEST_WINDOW_MS - nowMs) / 1000))
  throw new Failure(429, `${refusal}; try again in ${seconds} s`, { headers: { 'retry-after': String(seconds) } })
}

/** Returns what was granted and not used. */
export async function giveBackToWindow(db: Db, { subject, windowStartMs, count }: RateWindow & { count: number }): Promise<void> {
  await db.run(sql`
    update rate_windows set used = greatest(0, used - ${count}::bigint)
    where subject = ${subject} and window_start_ms = ${windowStartMs}`)
}

/** Deletes the windows of every subject that began before the given time. Returns their number. */
export const removeWindows = (db: Db, beforeMs: number): Promise<number> => removeOld(db, 'rate_windows', 'window_start_ms', beforeMs)
