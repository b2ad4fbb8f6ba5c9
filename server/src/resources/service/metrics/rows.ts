import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** Work of one kind that should have been done: how much, and since when. */
export type LateWork = { work: string; pending: number; due_at: number | null; given_up: number }

const isFree = sql`coalesce(lease_until_ms, 0) < extract(epoch from clock_timestamp()) * 1000`
const isLate = (nowMs: number) => sql`given_up_at is null and due_at <= ${nowMs} and ${isFree}`

/**
 * The due and given-up jobs of each kind, overdue evaluations of monitors, notifications that wait for a receiver, forward configs whose
 * destination does not take events, and posts whose spans should have been decided. A job or an evaluation whose lease has not ended is running.
 */
export const selectLateWork = (db: Db, nowMs: number) =>
  db.all<LateWork>(sql`
    select 'job ' || kind as work,
      count(*) filter (where ${isLate(nowMs)})::int as pending,
      min(due_at) filter (where ${isLate(nowMs)}) as due_at,
      count(*) filter (where given_up_at is not null)::int as given_up
    from jobs group by kind
    union all
    select 'monitors', count(*)::int, min(due_at), 0 from monitor_states
    where due_at <= ${nowMs} and ${isFree}
    union all
    select 'notifications', count(*)::int, min(next_try_at), 0 from monitor_notifications where state = 'IN_PROGRESS' and next_try_at <= ${nowMs}
    union all
    select 'forward configs', count(*)::int, min((state ->> 'delayed_since')::bigint), 0
    from forward_deliveries where (state ->> 'failures')::int > 0
    union all
    select 'waiting spans', count(*)::int, min(due_at), 0 from waiting_spans where ended_at is null and due_at <= ${nowMs}`)
