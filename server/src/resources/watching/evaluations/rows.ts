import type { Db } from '../../../meta/meta.ts'
import { json, type Sql, sql } from '../../../meta/sql.ts'
import type { EvaluationRecord, StateRow, Status } from '../monitors/monitors.ts'
import { INTERVAL_MS } from '../monitors/monitors.ts'

/** STORE_MS is the one clock of leases: those of the processes that share the work need not agree. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** NEVER_DUE_MS after now no evaluation is ever due: a later due time was written while a clock was wrong. */
const NEVER_DUE_MS = INTERVAL_MS + 15_000

/**
 * claimDue takes the monitors that have been due longest; skip locked lets several processes share the work without waiting for one another. Due times
 * and leases that a wrong clock wrote hold nothing up.
 */
export const claimDue = (db: Db, claim: { holder: string; dueMs: number; leaseMs: number; rowsMax: number }) =>
  db.all<StateRow>(sql`
    update monitor_states set holder = ${claim.holder}, lease_until_ms = ${STORE_MS} + ${claim.leaseMs}::bigint, fence = fence + 1
    where monitor_id in (
      select monitor_id from monitor_states
      where (due_at <= ${claim.dueMs} or due_at > ${claim.dueMs + NEVER_DUE_MS})
        and (lease_until_ms is null or lease_until_ms < ${STORE_MS} or lease_until_ms > ${STORE_MS} + ${2 * claim.leaseMs}::bigint)
      order by due_at limit ${claim.rowsMax} for update skip locked)
    returning *`)

/** heldBy locks in the order in which all take many states, so that nobody waits crosswise. */
const heldBy = (holder: string): Sql => sql`select monitor_id from monitor_states where holder = ${holder} order by monitor_id for update`

/** selectLastLook is when any process evaluated any monitor last. */
export const selectLastLook = (db: Db) => db.one<{ last: number | null }>(sql`select max(looked_at) as last from monitor_states`)

export const renewLeases = (db: Db, holder: string, leaseMs: number) =>
  db.run(sql`
    with held as (${heldBy(holder)})
    update monitor_states set lease_until_ms = ${STORE_MS} + ${leaseMs}::bigint where monitor_id in (select monitor_id from held)`)

/** giveBackLeases lets others look at once, when a process stops. */
export const giveBackLeases = (db: Db, holder: string) =>
  db.run(sql`
    with held as (${heldBy(holder)})
    update monitor_states set holder = null, lease_until_ms = null where monitor_id in (select monitor_id from held)`)

export type LookRow = Pick<
  StateRow,
  'org_id' | 'monitor_id' | 'fence' | 'status' | 'state' | 'alerts' | 'last_trigger_ts' | 'is_new' | 'due_at'
> & {
  /** more_reads are datasets from which the monitor reads for the first time. */
  more_reads: string[]
  time: number
  from_ts: number
  to_ts: number
  missed: number
  is_change: boolean
  record: EvaluationRecord
}

/**
 * writeLooks ends the leases of looks and writes their records. A look whose fence is another by now, since the lease ran out or the definition
 * changed, leaves nothing; the ids of the others come back.
 */
export const writeLooks = (db: Db, looks: readonly LookRow[]) =>
  db.all<{ monitor_id: string }>(sql`
    with given as (
      select * from jsonb_to_recordset(${json(looks)}) as one (org_id uuid, monitor_id uuid, fence bigint, status text, state jsonb, alerts jsonb,
        last_trigger_ts bigint, is_new boolean, due_at bigint, time bigint, from_ts bigint, to_ts bigint, missed bigint, is_change boolean,
        record jsonb, more_reads uuid[])
    ), locked as (
      select s.monitor_id from monitor_states s join given on s.monitor_id = given.monitor_id and s.fence = given.fence
      where s.holder is not null order by s.monitor_id for update of s
    ), held as (
      update monitor_states s set status = given.status, state = given.state, alerts = given.alerts, last_trigger_ts = given.last_trigger_ts,
        is_new = given.is_new, due_at = given.due_at, looked_at = given.time, reads = s.reads || given.more_reads, missed = s.missed + given.missed, holder = null, lease_until_ms = null
      from given join locked using (monitor_id) where s.monitor_id = given.monitor_id and s.fence = given.fence and s.holder is not null
      returning s.monitor_id
    )
    insert into monitor_evaluations (org_id, monitor_id, time, from_ts, to_ts, status, is_change, record)
    select org_id, monitor_id, time, from_ts, to_ts, status, is_change, record from given join held using (monitor_id)
    returning monitor_id`)

export type EventRow = {
  id: string
  org_id: string
  monitor_id: string
  time: number
  monitor_status: Status
  previous_status: Status
  message: string | null
}

export const insertEvent = (db: Db, row: EventRow) =>
  db.run(sql`
    insert into monitor_events (org_id, id, monitor_id, time, monitor_status, previous_status, message)
    values (${row.org_id}, ${row.id}, ${row.monitor_id}, ${row.time}, ${row.monitor_status}, ${row.previous_status}, ${row.message})`)

type HistoryPlace = { org_id: string; monitor_id: string; time: number }

export const insertGroupHistory = (
  db: Db,
  { org_id, monitor_id, time }: HistoryPlace,
  rows: readonly { group_id: string; status: Status }[],
) =>
  db.run(sql`
    insert into monitor_group_history (org_id, monitor_id, group_id, time, status)
    select ${org_id}, ${monitor_id}, group_id, ${time}, status from jsonb_to_recordset(${json(rows)}) as one (group_id text, status text)`)

export const deleteOldEvaluations = (db: Db, before: { plainMs: number; changeMs: number }) =>
  db.run(sql`delete from monitor_evaluations where time < ${before.changeMs} or (time < ${before.plainMs} and not is_change)`)

export const deleteOldEvents = (db: Db, beforeMs: number) => db.run(sql`delete from monitor_events where time < ${beforeMs}`)
export const deleteOldGroupHistory = (db: Db, beforeMs: number) => db.run(sql`delete from monitor_group_history where time < ${beforeMs}`)
export const deleteOldNotifications = (db: Db, beforeMs: number) =>
  db.run(sql`delete from monitor_notifications where time < ${beforeMs} and state <> 'IN_PROGRESS'`)
