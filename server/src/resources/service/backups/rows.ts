import type { BackupTask, Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

/** What a restoration was asked for. */
type RestorationRequest = { source_id: string; collection: string; dataset: string }

export type BackupTaskRow = {
  id: string
  task: BackupTask['task']
  status: BackupTask['status']
  trigger: BackupTask['trigger']
  backup: string | null
  made_at: number | null
  created_at: number
  created_by: Identity | null
  started_at: number | null
  ended_at: number | null
  failure_detail: string | null
  rows: number | null
  org_id: string | null
  dataset_id: string | null
  request: RestorationRequest | null
}

/** Returns 0 when a task of the kind is open. */
export const insertTask = (db: Db, row: BackupTaskRow) =>
  db.run(sql`
    insert into backup_tasks (id, task, status, trigger, backup, created_at, created_by, org_id, dataset_id, request)
    values (${row.id}, ${row.task}, ${row.status}, ${row.trigger}, ${row.backup}, ${row.created_at}, ${json(row.created_by)}, ${row.org_id},
      ${row.dataset_id}, ${json(row.request)})
    on conflict (task) where ended_at is null do nothing`)

export const selectTask = (db: Db, id: string) => db.one<BackupTaskRow>(sql`select * from backup_tasks where id = ${id}`)

export const selectTasks = (db: Db, rowsMax: number) =>
  db.all<BackupTaskRow>(sql`select * from backup_tasks order by created_at desc, id limit ${rowsMax}`)

/** The open task that was created first. */
export const selectOpenTask = (db: Db) =>
  db.one<BackupTaskRow>(sql`select * from backup_tasks where ended_at is null order by created_at, id limit 1`)

export const selectLastEnded = (db: Db, task: BackupTask['task']) =>
  db.one<BackupTaskRow>(sql`
    select * from backup_tasks where task = ${task} and ended_at is not null order by ended_at desc limit 1`)

export const updateTask = (db: Db, row: BackupTaskRow) =>
  db.run(sql`
    update backup_tasks set status = ${row.status}, backup = ${row.backup}, made_at = ${row.made_at}, started_at = ${row.started_at},
      ended_at = ${row.ended_at}, failure_detail = ${row.failure_detail}, rows = ${row.rows}
    where id = ${row.id}`)

/** The latest task of each kind, and the latest of each that is complete. */
export const selectLatestTasks = (db: Db) =>
  db.all<BackupTaskRow>(sql`
    (select distinct on (task) * from backup_tasks order by task, created_at desc)
    union (select distinct on (task) * from backup_tasks where status = 'COMPLETE' order by task, created_at desc)`)

/** The latest verification of each backup that has ended. */
export const selectVerifications = (db: Db) =>
  db.all<Pick<BackupTaskRow, 'backup' | 'status' | 'ended_at' | 'failure_detail'>>(sql`
    select distinct on (backup) backup, status, ended_at, failure_detail from backup_tasks
    where task = 'VERIFICATION' and ended_at is not null order by backup, ended_at desc`)

export const deleteOldTasks = (db: Db, beforeMs: number) => db.run(sql`delete from backup_tasks where ended_at < ${beforeMs}`)

export const selectOrganizationNumber = (db: Db, orgId: string) =>
  db.one<{ number: number }>(sql`select number from organisations where id = ${orgId}`)
