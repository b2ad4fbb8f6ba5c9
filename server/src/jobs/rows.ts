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

/** A Lease names one holding of a job: every statement about it misses once another lease was given. */
export type Lease = Pick<JobRow, 'id' | 'fence'>

/** STORE_MS is the one clock of leases: those of the processes that share the work need not agree. */
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
 * insertJob leaves one job of a kind and key: due at the earlier time, and taken up again when it had been given up. One that is just being done may
 * be past what it is asked for now, so it is remembered that it was asked for again.
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

/** AHEAD_MS: what was written so far in the future was written while a clock was wrong. */
const AHEAD_MS = 60_000

/**
 * claimJob takes the job that has been due longest; skip locked lets several processes share the work without waiting for one another. Due times and
 * leases that a wrong clock wrote hold nothing up: see keepRecurring for those of recurring kinds.
 */
export const claimJob = (
  db: Db,
  claim: { kinds: readonly string[]; recurring: readonly string[]; holder: string; nowMs: number; leaseMs: number },
) =>
  db.one<JobRow>(sql`
    update jobs set holder = ${claim.holder}, lease_until_ms = ${STORE_MS} + ${claim.leaseMs}::bigint, fence = fence + 1, attempts = attempts + 1,
      again_at = null
    where id = (
      select id from jobs
      where given_up_at is null and kind in (${sql.join(claim.kinds)})
        and (due_at <= ${claim.nowMs}
          or (not kind = any(${claim.recurring}::text[]) and greatest(created_at, done_at, failed_at) > ${claim.nowMs + AHEAD_MS}))
        and (lease_until_ms is null or lease_until_ms < ${STORE_MS} or lease_until_ms > ${STORE_MS} + ${2 * claim.leaseMs}::bigint)
      order by due_at, id limit 1 for update skip locked)
    returning id, org_id, kind, key, payload, attempts, fence`)

const held = ({ id, fence }: Lease): Sql => sql`id = ${id} and fence = ${fence} and holder is not null`

/** renewLease gives 0 when the lease is lost. */
export const renewLease = (db: Db, lease: Lease, leaseMs: number) =>
  db.run(sql`update jobs set lease_until_ms = ${STORE_MS} + ${leaseMs}::bigint where ${held(lease)}`)

/**
 * holdLease keeps others from claiming the job until the transaction ends, which the key share lock does, while a renewal passes beside it.
 */
export const holdLease = (db: Db, lease: Lease) => db.one<{ id: string }>(sql`select id from jobs where ${held(lease)} for key share`)

/** deleteJob gives 0 when the job was asked for again while it was done, or the lease is lost. */
export const deleteJob = (db: Db, lease: Lease) => db.run(sql`delete from jobs where ${held(lease)} and again_at is null`)

/** takeUpAgain ends a lease with success, for a job that was asked for again meanwhile. */
export const takeUpAgain = (db: Db, lease: Lease, nowMs: number) =>
  db.run(sql`
    update jobs set holder = null, lease_until_ms = null, attempts = 0, last_failure = null, done_at = ${nowMs}, due_at = again_at, again_at = null
    where ${held(lease)} and again_at is not null`)

/** rescheduleJob ends a lease with success, for a job that has more to do. */
export const rescheduleJob = (db: Db, lease: Lease, next: { nowMs: number; dueMs: number; payload: Record<string, unknown> }) =>
  db.run(sql`
    update jobs set holder = null, lease_until_ms = null, attempts = 0, last_failure = null, done_at = ${next.nowMs},
      due_at = least(again_at, ${next.dueMs}::bigint), again_at = null, payload = ${json(next.payload)}
    where ${held(lease)}`)

/** failJob ends a lease with a failure; without a time to try again the job is given up, unless it was asked for again meanwhile. */
export const failJob = (db: Db, lease: Lease, failed: { nowMs: number; failure: string; dueMs: number | undefined }) =>
  db.run(sql`
    update jobs set holder = null, lease_until_ms = null, last_failure = ${failed.failure}, failed_at = ${failed.nowMs}, again_at = null,
      due_at = coalesce(${failed.dueMs ?? null}::bigint, again_at, due_at),
      attempts = case when ${failed.dueMs ?? null}::bigint is null and again_at is not null then 0 else attempts end,
      given_up_at = case when ${failed.dueMs ?? null}::bigint is null and again_at is null then ${failed.nowMs}::bigint end
    where ${held(lease)}`)

/** giveBack ends a lease as if it had never been given. */
export const giveBack = (db: Db, lease: Lease) =>
  db.run(sql`update jobs set holder = null, lease_until_ms = null, attempts = attempts - 1 where ${held(lease)}`)

/** freeFirstAttempts ends leases as if they had run out; a job that has been begun more than once since its last success keeps its lease. */
export const freeFirstAttempts = (db: Db) =>
  db.run(sql`
    with held as (select id from jobs where holder is not null and attempts <= 1 order by id for update)
    update jobs set holder = null, lease_until_ms = null where id in (select id from held)`)

/**
 * keepRecurring makes the job of a recurring kind where it is missing, and brings it forward where it is due later than one interval from now:
 * the interval became shorter, or the clock went back.
 */
export const keepRecurring = (db: Db, job: { id: string; kind: string; nowMs: number; dueMs: number; dueMaxMs: number }) =>
  db.run(sql`
    insert into jobs (id, kind, key, payload, created_at, due_at)
    values (${job.id}, ${job.kind}, '', '{}', ${job.nowMs}, ${job.dueMs})
    on conflict (kind, key) do update set due_at = least(jobs.due_at, ${job.dueMaxMs}::bigint)
      where jobs.due_at > ${job.dueMaxMs}::bigint`)
