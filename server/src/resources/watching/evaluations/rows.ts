import type { MonitorEvaluation } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, type Sql, sql } from '../../../meta/sql.ts'
import type { AlertStatus } from '../alert-states/alert-states.ts'
import type { StateRow } from '../monitor-definitions/monitor-definitions.ts'
import { INTERVAL_MS } from './interval.ts'

/** What an evaluation found and decided, as the history shows it. */
export type EvaluationRecord = Omit<MonitorEvaluation, 'time' | 'from_ts' | 'to_ts' | 'status'>

/** Leases use the clock of the database, because the clocks of processes may differ. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** No evaluation is due later than this; a later time was written while a clock was wrong. */
const NEVER_DUE_MS = INTERVAL_MS + 15_000

/**
 * Claims the monitors that have been due longest. `skip locked` lets processes share the work without waiting for each other. Due times and
 * leases that a wrong clock wrote are ignored.
 */
export const claimDue = (db: Db, claim: { holder: string; dueMs: number; leaseMs: number; rowsMax: number }) =>
  db.all<StateRow>(sql`
    update monitor_states set holder = ${claim.holder}, lease_until_ms = ${STORE_MS} + ${claim.leaseMs}::bigint, lease_ms = ${claim.leaseMs}, fence = fence + 1
    where monitor_id in (
      select monitor_id from monitor_states
      where (due_at <= ${claim.dueMs} or due_at > ${claim.dueMs + NEVER_DUE_MS})
        and (lease_until_ms is null or lease_until_ms < ${STORE_MS} or lease_until_ms > ${STORE_MS} + 2 * coalesce(lease_ms, ${claim.leaseMs}::bigint))
      order by due_at limit ${claim.rowsMax} for update skip locked)
    returning *`)

/** Locks states in one order everywhere, to avoid deadlocks. */
const heldBy = (holder: string): Sql => sql`select monitor_id from monitor_states where holder = ${holder} order by monitor_id for update`

/** The time of the last evaluation of any monitor by any process. */
export const selectLastEvaluation = (db: Db) => db.one<{ last: number | null }>(sql`select max(looked_at) as last from monitor_states`)

export const renewLeases = (db: Db, holder: string, leaseMs: number) =>
  db.run(sql`
    with held as (${heldBy(holder)})
    update monitor_states set lease_until_ms = ${STORE_MS} + ${leaseMs}::bigint, lease_ms = ${leaseMs} where monitor_id in (select monitor_id from held)`)

/** Lets other processes evaluate at once when this one stops. */
export const releaseLeases = (db: Db, holder: string) =>
  db.run(sql`
    with held as (${heldBy(holder)})
    update monitor_states set holder = null, lease_until_ms = null where monitor_id in (select monitor_id from held)`)

export type EvaluationWrite = Pick<
  StateRow,
  'org_id' | 'monitor_id' | 'fence' | 'status' | 'state' | 'alerts' | 'last_trigger_ts' | 'is_new' | 'due_at'
> & {
  /** The datasets that the monitor reads for the first time. */
  more_reads: string[]
  time: number
  from_ts: number
  to_ts: number
  missed: number
  is_change: boolean
  record: EvaluationRecord
}

/**
 * Stores evaluations and ends their leases. An evaluation with an outdated fence is dropped: its lease ran out, or the definition changed.
 * Returns the ids of the stored ones.
 */
export const writeEvaluations = (db: Db, evaluations: readonly EvaluationWrite[]) =>
  db.all<{ monitor_id: string }>(sql`
    with given as (
      select * from jsonb_to_recordset(${json(evaluations)}) as one (org_id uuid, monitor_id uuid, fence bigint, status text, state jsonb, alerts jsonb,
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

export type MonitorEventRow = {
  id: string
  org_id: string
  monitor_id: string
  time: number
  monitor_status: AlertStatus
  previous_status: AlertStatus
  message: string | null
}

export const insertEvent = (db: Db, row: MonitorEventRow) =>
  db.run(sql`
    insert into monitor_events (org_id, id, monitor_id, time, monitor_status, previous_status, message)
    values (${row.org_id}, ${row.id}, ${row.monitor_id}, ${row.time}, ${row.monitor_status}, ${row.previous_status}, ${row.message})`)

type HistoryPlace = { org_id: string; monitor_id: string; time: number }

export const insertGroupHistory = (
  db: Db,
  { org_id, monitor_id, time }: HistoryPlace,
  rows: readonly { group_id: string; status: AlertStatus }[],
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
