import { enqueue } from '../../../jobs/jobs.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { type BackupTaskRow, insertTask } from './rows.ts'

/** One job for the whole deployment: making, verifying and restoring never disturb each other. */
export const BACKUP_TASKS = 'backup_tasks'

type NewTask = Pick<BackupTaskRow, 'task' | 'trigger' | 'created_by'> &
  Partial<Pick<BackupTaskRow, 'backup' | 'org_id' | 'dataset_id' | 'request'>>

export const newTask = (world: Pick<World, 'clock' | 'ids'>, fields: NewTask): BackupTaskRow => ({
  id: world.ids.uuid(),
  status: 'CREATED',
  backup: null,
  made_at: null,
  created_at: world.clock.nowMs(),
  started_at: null,
  ended_at: null,
  failure_detail: null,
  rows: null,
  org_id: null,
  dataset_id: null,
  request: null,
  ...fields,
})

/** False when a task of the kind is open. One job works on all tasks, one after the other. */
export async function addTask(world: Pick<World, 'clock' | 'ids'>, tx: Db, row: BackupTaskRow): Promise<boolean> {
  if ((await insertTask(tx, row)) === 0) return false
  await enqueue(world, tx, { kind: BACKUP_TASKS, orgId: undefined, key: '', payload: {} })
  return true
}
