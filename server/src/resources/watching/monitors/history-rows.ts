import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'
import type { AlertStatus } from '../alert-states/alert-states.ts'
import type { EvaluationRecord } from '../evaluations/evaluations.ts'

export type HistorySpan = { fromMs: number; toMs: number }
/** Bounds a response without pages; the newest rows are returned. */
const ROWS_MAX = 10_000

type EventRow = {
  monitor_id: string
  time: number
  monitor_status: AlertStatus
  previous_status: AlertStatus
  message: string | null
  ai_report: string | null
}

export const selectEvents = (db: Db, orgId: string, monitorId: string, { fromMs, toMs }: HistorySpan) =>
  db.all<EventRow>(sql`
    select monitor_id, time, monitor_status, previous_status, message, ai_report from monitor_events
    where org_id = ${orgId} and monitor_id = ${monitorId} and time >= ${fromMs} and time < ${toMs}
    order by time desc, id limit ${ROWS_MAX}`)

export const selectGroupHistory = (db: Db, orgId: string, monitorId: string, { fromMs, toMs }: HistorySpan) =>
  db.all<{ group_id: string; time: number; status: AlertStatus }>(sql`
    select * from (
      select group_id, time, status from monitor_group_history
      where org_id = ${orgId} and monitor_id = ${monitorId} and time >= ${fromMs} and time < ${toMs} order by time desc limit ${ROWS_MAX}) newest
    order by group_id, time`)

type NotificationRow = {
  id: string
  monitor_id: string
  time: number
  monitor_status: AlertStatus
  type: 'EMAIL' | 'SLACK' | 'WEBHOOK'
  destination: string
  state: 'IN_PROGRESS' | 'SENT' | 'FAILED'
  failure_reason: string | null
  test: boolean
  tries: { at: number; status?: number; failure?: string }[]
}

export const selectNotifications = (db: Db, orgId: string, monitorId: string, { fromMs, toMs }: HistorySpan) =>
  db.all<NotificationRow>(sql`
    select id, monitor_id, time, monitor_status, type, destination, state, failure_reason, test, tries from monitor_notifications
    where org_id = ${orgId} and monitor_id = ${monitorId} and time >= ${fromMs} and time < ${toMs}
    order by time desc, id limit ${ROWS_MAX}`)

type EvaluationRow = { time: number; from_ts: number; to_ts: number; status: AlertStatus; record: EvaluationRecord }

export const selectEvaluations = (db: Db, orgId: string, monitorId: string, { fromMs, toMs }: HistorySpan, limit: number) =>
  db.all<EvaluationRow>(sql`
    select time, from_ts, to_ts, status, record from monitor_evaluations
    where org_id = ${orgId} and monitor_id = ${monitorId} and time >= ${fromMs} and time < ${toMs} order by time desc limit ${limit}`)
