import type { Db } from '../meta/meta.ts'
import { json, type Sql, sql } from '../meta/sql.ts'

export type JobRow = {
  id: string
  org_id: string | null
  kind: string
  key: string
  payload: Record<string, unknown>
  attempts: number
  fence: number
}

/** One lease of a job. Every statement with it affects no row once another lease was granted. */
export type Lease = Pick<JobRow, 'id' | 'fence'>

/** Leases use the clock of the store, because the clocks of the processes may differ. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

export type NewJobRow = {
  id: string
  org_id: string | null
  kind: string
  key: string
  payload: Record<string, unknown>
  nowMs: number
  dueMs: number
}

/**
 * Creates the job, or makes the existing one due at the earlier time and revives it when it was given up. A running job may be past the new
 * work, so `again_at` records that it has to run again.
 */
export const insertJob = (db: Db, job: NewJobRow) =>
  db.run(sql`
    insert into jobs (id, org_id, kind, key, payload, created_at, due_at)
    values (${job.id}, ${job.org_id}, ${job.kind}, ${job.key}, ${json(job.payload)}, ${job.nowMs}, ${job.dueMs})
    on conflict (kind, key) do update set
      due_at = least(jobs.due_at, excluded.due_at),
      again_at = case when jobs.holder is not null then least(jobs.again_at, excluded.due_at) end,
      attempts = case when jobs.given_up_at is null then jobs.attempts else 0 end,
      given_up_at = null`)

/** Timestamps further in the future than this were written while a clock was wrong. */
const CLOCK_AHEAD_MS = 60_000

/**
 * Claims the job that has been due longest. `skip locked` lets several processes claim without waiting for each other. Due times and leases
 * that a wrong clock wrote are ignored; keepRecurring corrects those of recurring kinds.
 */
export const claimJob = (
  db: Db,
  claim: { kinds: readonly string[]; recurring: readonly string[]; holder: string; nowMs: number; leaseMs: number },
) =>
  db.one<JobRow>(sql`
    update jobs set holder = ${claim.holder}, lease_until_ms = ${STORE_MS} + ${claim.leaseMs}::bigint, lease_ms = ${claim.leaseMs}, fence = fence + 1, attempts = attempts + 1,
      again_at = null
    where id = (
      select id from jobs
      where given_up_at is null and kind in (${sql.join(claim.kinds)})
        and (due_at <= ${claim.nowMs}
          or (not kind = any(${claim.recurring}::text[]) and greatest(created_at, done_at, failed_at) > ${claim.nowMs + CLOCK_AHEAD_MS}))
        and (lease_until_ms is null or lease_until_ms < ${STORE_MS} or lease_until_ms > ${STORE_MS} + 2 * coalesce(lease_ms, ${claim.leaseMs}::bigint))
      order by due_at, id limit 1 for update skip locked)
    returning id, org_id, kind, key, payload, attempts, fence`)

const held = ({ id, fence }: Lease): Sql => sql`id = ${id} and fence = ${fence} and holder is not null`

/** Returns 0 when the lease is lost. */
export const renewLease = (db: Db, lease: Lease, leaseMs: number) =>
  db.run(sql`update jobs set lease_until_ms = ${STORE_MS} + ${leaseMs}::bigint, lease_ms = ${leaseMs} where ${held(lease)}`)

/** Prevents other processes from claiming the job until the transaction ends. The key share lock still lets a renewal pass. */
export const holdLease = (db: Db, lease: Lease) => db.one<{ id: string }>(sql`select id from jobs where ${held(lease)} for key share`)

/** Returns 0 when the job was enqueued again while it ran, or the lease is lost. */
export const deleteJob = (db: Db, lease: Lease) => db.run(sql`delete from jobs where ${held(lease)} and again_at is null`)

/** Ends a lease with success and makes the job due again, because it was enqueued while it ran. */
export const requeueJob = (db: Db, lease: Lease, nowMs: number) =>
  db.run(sql`
    update jobs set holder = null, lease_until_ms = null, attempts = 0, last_failure = null, done_at = ${nowMs}, due_at = again_at, again_at = null
    where ${held(lease)} and again_at is not null`)

/** Ends a lease with success, for a job that has more to do. */
export const rescheduleJob = (db: Db, lease: Lease, next: { nowMs: number; dueMs: number; payload: Record<string, unknown> }) =>
  db.run(sql`
    update jobs set holder = null, lease_until_ms = null, attempts = 0, last_failure = null, done_at = ${next.nowMs},
      due_at = least(again_at, ${next.dueMs}::bigint), again_at = null, payload = ${json(next.payload)}
    where ${held(lease)}`)

/** Ends a lease with a failure. Without a retry time the job is given up, unless it was enqueued again while it ran. */
export const failJob = (db: Db, lease: Lease, failed: { nowMs: number; failure: string; dueMs: number | undefined }) =>
  db.run(sql`
    update jobs set holder = null, lease_until_ms = null, last_failure = ${failed.failure}, failed_at = ${failed.nowMs}, again_at = null,
      due_at = coalesce(${failed.dueMs ?? null}::bigint, again_at, due_at),
      attempts = case when ${failed.dueMs ?? null}::bigint is null and again_at is not null then 0 else attempts end,
      given_up_at = case when ${failed.dueMs ?? null}::bigint is null and again_at is null then ${failed.nowMs}::bigint end
    where ${held(lease)}`)

/** Ends a lease as if it had never been granted. */
export const releaseLease = (db: Db, lease: Lease) =>
  db.run(sql`update jobs set holder = null, lease_until_ms = null, attempts = attempts - 1 where ${held(lease)}`)

/** Expires the leases of jobs on their first attempt since their last success. Other jobs keep their leases. */
export const freeFirstAttempts = (db: Db) =>
  db.run(sql`
    with held as (select id from jobs where holder is not null and attempts <= 1 order by id for update)
    update jobs set holder = null, lease_until_ms = null where id in (select id from held)`)

/**
 * Creates the missing job of a recurring kind. Moves it forward when it is due later than one interval from now, because the interval was
 * shortened or the clock was set back.
 */
export const keepRecurring = (db: Db, job: { id: string; kind: string; nowMs: number; dueMs: number; dueMaxMs: number }) =>
  db.run(sql`
    insert into jobs (id, kind, key, payload, created_at, due_at)
    values (${job.id}, ${job.kind}, '', '{}', ${job.nowMs}, ${job.dueMs})
    on conflict (kind, key) do update set due_at = least(jobs.due_at, ${job.dueMaxMs}::bigint)
      where jobs.due_at > ${job.dueMaxMs}::bigint`)
