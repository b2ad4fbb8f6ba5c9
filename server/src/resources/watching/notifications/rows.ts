import type { Db } from '../../../meta/meta.ts'
import { json, type Sql, sql } from '../../../meta/sql.ts'
import type { Occasion } from '../alert-states/alert-states.ts'
import type { NotificationTarget } from '../integrations/integrations.ts'
import type { ValueHistory } from './chart/chart.ts'

/** The data that was looked up for a message. */
export type Briefing = {
  readonly samples: readonly string[]
  readonly report?: string | undefined
  readonly past?: ValueHistory | undefined
  /** The texts of patterns by their ids. */
  readonly patterns?: Readonly<Record<string, string>>
}

/** The stored result of one try. */
export type TryRecord = { readonly at: number; readonly status?: number | undefined; readonly failure?: string | undefined }

export type NotificationRow = {
  org_id: string
  id: string
  monitor_id: string | null
  event_id: string | null
  alert_id: string
  group_id: string
  time: number
  test: boolean
  type: NotificationTarget['type']
  destination: string
  integration_id: string | null
  occasion: Occasion
  briefing: Briefing | null
  attempts: number
}

const COLUMNS = sql`org_id, id, monitor_id, event_id, alert_id, group_id, time, test, type, destination, integration_id, occasion, briefing, attempts`

/** A row written this far in the future comes from a wrong clock, and so does its due time. */
const AHEAD_MS = 60_000

/** Expects the alias `n` for the notification. */
const isDue = (nowMs: number): Sql =>
  sql`(n.next_try_at <= ${nowMs} or greatest(n.time, (n.tries -> -1 ->> 'at')::numeric) > ${nowMs + AHEAD_MS})`

/**
 * Selects the first due notifications of every receiver and organization, so that none with many notifications hides the others.
 * Notifications of one alert to one receiver keep their order: a recovery never arrives before its alert.
 */
export const selectDue = (db: Db, request: { nowMs: number; perTarget: number; perOrganization: number }) =>
  db.all<NotificationRow>(sql`
    select ${COLUMNS} from (
      select placed.*, row_number() over (partition by org_id order by place, time, id) as org_place from (
        select n.*, row_number() over (partition by org_id, type, integration_id, destination order by time, id) as place
        from monitor_notifications n
        where state = 'IN_PROGRESS' and ${isDue(request.nowMs)} and not exists (
          select 1 from monitor_notifications earlier
          where earlier.state = 'IN_PROGRESS' and earlier.alert_id = n.alert_id and earlier.time < n.time
            and earlier.type = n.type and earlier.destination = n.destination and earlier.integration_id is not distinct from n.integration_id
            and earlier.group_id = n.group_id)
      ) placed
      where place <= ${request.perTarget}
    ) due
    where org_place <= ${request.perOrganization} order by place, time, id`)

/** The time of the next try. */
export const selectNextDue = (db: Db) =>
  db.one<{ due: number | null }>(sql`select min(next_try_at) as due from monitor_notifications where state = 'IN_PROGRESS'`)

/** All due mails to the same address with the same template. */
export const selectDueMails = (db: Db, one: NotificationRow, nowMs: number, rowsMax: number) =>
  db.all<NotificationRow>(sql`
    select ${COLUMNS} from monitor_notifications n
    where org_id = ${one.org_id} and type = 'EMAIL' and destination = ${one.destination}
      and integration_id is not distinct from ${one.integration_id} and state = 'IN_PROGRESS' and ${isDue(nowMs)}
    order by time, id limit ${rowsMax}`)

const ids = (rows: readonly Pick<NotificationRow, 'id'>[]): Sql => sql.join(rows.map(({ id }) => id))

/**
 * Counts a try before it is made, so that a receiver can detect a duplicate after a crash. Skips notifications that are no longer in
 * progress.
 */
export const beginTry = (db: Db, orgId: string, rows: readonly Pick<NotificationRow, 'id'>[]) =>
  db.all<{ id: string; attempts: number }>(sql`
    update monitor_notifications set attempts = attempts + 1
    where org_id = ${orgId} and id in (${ids(rows)}) and state = 'IN_PROGRESS' returning id, attempts`)

export type TryResult = {
  state: 'SENT' | 'FAILED' | 'IN_PROGRESS'
  failure_reason: string | null
  next_try_at: number | null
  tried: TryRecord
}

export const storeTryResult = (db: Db, orgId: string, rows: readonly Pick<NotificationRow, 'id'>[], settled: TryResult) =>
  db.run(sql`
    update monitor_notifications set state = ${settled.state}, failure_reason = ${settled.failure_reason}, next_try_at = ${settled.next_try_at},
      tries = (case when jsonb_array_length(tries) >= 50 then tries - 0 else tries end) || ${json([settled.tried])}
    where org_id = ${orgId} and id in (${ids(rows)})`)

/** Deletes finished test notifications that belong to no monitor. */
export const deleteUnreferenced = (db: Db, orgId: string, rows: readonly Pick<NotificationRow, 'id'>[]) =>
  db.run(
    sql`delete from monitor_notifications where org_id = ${orgId} and id in (${ids(rows)}) and monitor_id is null and state <> 'IN_PROGRESS'`,
  )

/** Identifies an occasion: its notifications, one for each target, have the same content. */
export type OccasionKey = Pick<NotificationRow, 'org_id' | 'alert_id' | 'group_id' | 'time'>

/** Returns a row if the occasion is sent by e-mail. */
export const selectMail = (db: Db, of: OccasionKey) =>
  db.one<{ id: string }>(sql`
    select id from monitor_notifications
    where org_id = ${of.org_id} and alert_id = ${of.alert_id} and group_id = ${of.group_id} and time = ${of.time} and type = 'EMAIL' limit 1`)

export const saveBriefing = (db: Db, of: OccasionKey, briefing: Briefing) =>
  db.run(sql`
    update monitor_notifications set briefing = ${json(briefing)}
    where org_id = ${of.org_id} and alert_id = ${of.alert_id} and group_id = ${of.group_id} and time = ${of.time} and briefing is null`)

export type NewNotification = Omit<NotificationRow, 'attempts' | 'briefing'> & { next_try_at: number }

export const insertNotification = (db: Db, row: NewNotification) =>
  db.run(sql`
    insert into monitor_notifications (org_id, id, monitor_id, event_id, alert_id, group_id, transition, previous_status, monitor_status, value,
      threshold, from_ts, to_ts, time, test, type, destination, integration_id, occasion, next_try_at)
    values (${row.org_id}, ${row.id}, ${row.monitor_id}, ${row.event_id}, ${row.alert_id}, ${row.group_id}, ${row.occasion.change},
      ${row.occasion.before}, ${row.occasion.after}, ${typeof row.occasion.value === 'number' ? row.occasion.value : null},
      ${row.occasion.threshold}, ${row.occasion.fromMs}, ${row.occasion.toMs}, ${row.time}, ${row.test}, ${row.type}, ${row.destination},
      ${row.integration_id}, ${json(row.occasion)}, ${row.next_try_at})`)

/** Other monitors that changed to ALERT or WARN in a time range, newest first. */
export const selectConcurrentAlerts = (db: Db, orgId: string, near: { fromMs: number; toMs: number; except: string; rowsMax: number }) =>
  db.all<{ name: string; status: string; time: number }>(sql`
    select m.name, e.monitor_status as status, e.time from monitor_events e join monitors m on m.id = e.monitor_id
    where e.org_id = ${orgId} and m.org_id = ${orgId} and e.monitor_id <> ${near.except} and e.monitor_status in ('ALERT', 'WARN')
      and e.time >= ${near.fromMs} and e.time <= ${near.toMs}
    order by e.time desc, e.id limit ${near.rowsMax}`)

export const selectReport = (db: Db, orgId: string, eventId: string) =>
  db.one<{ ai_report: string | null }>(sql`select ai_report from monitor_events where org_id = ${orgId} and id = ${eventId}`)

export const saveReport = (db: Db, orgId: string, eventId: string, report: string) =>
  db.run(sql`update monitor_events set ai_report = ${report} where org_id = ${orgId} and id = ${eventId} and ai_report is null`)
