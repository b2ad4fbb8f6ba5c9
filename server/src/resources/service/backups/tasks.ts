import { makeBackup } from '../../../backups/make.ts'
import { type BackupManifest, chainOf, listBackups, MANIFEST } from '../../../backups/manifest.ts'
import { nextBase, ownBackups, removable } from '../../../backups/plan.ts'
import { verifyBackup } from '../../../backups/verify.ts'
import type { JobContinuation, JobKind, JobRun } from '../../../jobs/job.ts'
import type { BackupPolicy, World } from '../../../world.ts'
import { BACKUP_TASKS } from './new-task.ts'
import { restoreDataset } from './restoration.ts'
import { type BackupTaskRow, deleteOldTasks, selectLastEnded, selectOpenTask, updateTask } from './rows.ts'
import { storeOf, type TaskResult } from './task-store.ts'

const ROWS_KEPT_MS = 400 * 86_400_000
const DETAIL_CHARACTERS_MAX = 1_000

export const backupTasks = (world: World): JobKind => ({ name: BACKUP_TASKS, run: (job) => runTasks(world, job) })

/** Works on one open task and comes again while there are others. */
async function runTasks(world: World, job: JobRun): Promise<JobContinuation | undefined> {
  const row = await selectOpenTask(world.meta)
  if (!row) return undefined
  const save = (fields: Partial<BackupTaskRow>): Promise<void> => saveTask(world, job, Object.assign(row, fields))
  const isInterrupted = row.status === 'IN_PROGRESS'
  await save({ status: 'IN_PROGRESS', started_at: world.clock.nowMs() })
  try {
    if (isInterrupted && row.task === 'RESTORATION') {
      throw new Error('its process ended; delete the new dataset, which may have a part of the events, and request it again')
    }
    const policy = world.backups
    if (!policy) throw new Error('the process that works on it has no DENDRO_BACKUP_URL')
    const result = await work(world, policy, job, row)
    await save({ status: 'COMPLETE', ended_at: world.clock.nowMs(), ...result })
  } catch (thrown) {
    // Another process, or the next start, begins the task again.
    if (job.signal.aborted) throw thrown
    const detail = (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll('\0', '').slice(0, DETAIL_CHARACTERS_MAX)
    world.log.warn({ err: thrown, task: row.task, backup: row.backup }, 'work on a backup failed')
    await save({ status: 'FAILED', ended_at: world.clock.nowMs(), failure_detail: detail })
  }
  return { againInMs: 0 }
}

async function saveTask(world: World, job: JobRun, row: BackupTaskRow): Promise<void> {
  await world.meta.write('*', async (tx) => {
    await job.hold(tx)
    await updateTask(tx, row)
  })
}

function work(world: World, policy: BackupPolicy, job: JobRun, row: BackupTaskRow): Promise<TaskResult> {
  switch (row.task) {
    case 'BACKUP':
      return back(world, policy, job)
    case 'VERIFICATION':
      return verify(world, policy, job, row)
    case 'RESTORATION':
      return restoreDataset(storeOf(world, policy, job), world, policy.place, row)
  }
}

async function back(world: World, policy: BackupPolicy, job: JobRun): Promise<TaskResult> {
  const store = storeOf(world, policy, job)
  const masterKey = world.vault.fingerprint
  const backups = await listBackups(policy.place)
  // A damaged backup must not stop all that would build upon it.
  const hasFailed = (await selectLastEnded(world.meta, 'BACKUP'))?.status === 'FAILED'
  const base = hasFailed ? null : nextBase({ backups, masterKey }, store.database)
  const manifest = await makeBackup({ ...store, writer: store.outside, metaUrl: world.meta.url, masterKey, id: store.newId() }, base)
  await removeOld(world, policy, masterKey)
  return { backup: manifest.name, made_at: manifest.made_at_ms, rows: null }
}

/** Nothing is removed while the clock may be wrong. */
async function removeOld({ clock, log, meta }: World, { place, keepMs }: BackupPolicy, masterKey: string): Promise<void> {
  if (clock.report?.().problem !== undefined) return
  const nowMs = clock.nowMs()
  for (const name of removable({ backups: await listBackups(place), masterKey }, nowMs, keepMs)) {
    await place.remove(name, [MANIFEST])
    log.info({ backup: name }, 'old backup removed')
  }
  await deleteOldTasks(meta, nowMs - ROWS_KEPT_MS)
}

/** The named backup, or the latest one for the schedule. */
async function verify(world: World, policy: BackupPolicy, job: JobRun, row: BackupTaskRow): Promise<TaskResult> {
  const backups = await listBackups(policy.place)
  const name = row.backup ?? ownBackups({ backups, masterKey: world.vault.fingerprint }).at(-1)?.name
  if (name === undefined) throw new Error('there is no backup')
  row.backup = name
  const manifest = chainOf(backups, name).at(-1) as BackupManifest
  const { rows } = await verifyBackup(storeOf(world, policy, job), manifest)
  return { backup: name, made_at: manifest.made_at_ms, rows }
}
