import type { Backup, BackupTask, NewRestoration } from '@dendro/api'
import { isUuid } from '@dendro/api'
import { chainOf, type FoundBackup, listBackups as listFound } from '../../../backups/manifest.ts'
import type { Actor } from '../../../http/actor.ts'
import { conflict, forbidden, notBuilt, notFound, unavailable } from '../../../kernel/errors.ts'
import type { BackupPolicy, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { managementId } from '../../access/organizations/organizations.ts'
import { addTask, newTask } from './new-task.ts'
import { planRestoration } from './restoration.ts'
import { type BackupTaskRow, selectTask, selectTasks, selectVerifications } from './rows.ts'

export { type BackupWatch, openBackupWatch, withBackups } from './ages.ts'
export { backupSchedule } from './schedule.ts'
export { backupTasks } from './tasks.ts'

const TASKS_SHOWN = 100

/** A backup has the data of all organizations, so that only the first one's managers handle it. For others nothing with a name is there. */
async function checkManager(world: World, actor: Actor, named?: { noun: string; id: string }): Promise<void> {
  if (actor.orgId === (await managementId(world))) return
  if (named) throw notFound(named.noun, named.id)
  throw forbidden('backups cover the whole deployment and are only for the management organization')
}

/** Refuses honestly what this deployment cannot do. */
async function openFor(world: World, actor: Actor, name?: string): Promise<BackupPolicy> {
  await checkManager(world, actor, name === undefined ? undefined : { noun: 'backup', id: name })
  if (!world.backups) throw notBuilt('this deployment has no place for backups; the operator names one with DENDRO_BACKUP_URL')
  if (world.events.cluster !== undefined) throw notBuilt('Dendro makes no backups of a cluster; use BACKUP … ON CLUSTER of ClickHouse')
  return world.backups
}

async function foundIn({ place }: BackupPolicy): Promise<FoundBackup[]> {
  return listFound(place).catch((cause) => {
    throw unavailable(`the place of backups cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
  })
}

export async function listBackups(world: World, actor: Actor): Promise<{ backups: Backup[]; tasks: BackupTask[] }> {
  const found = await foundIn(await openFor(world, actor))
  const verifications = new Map((await selectVerifications(world.meta)).map((row) => [row.backup, row]))
  const backups = found.map((one): Backup => {
    const verification = verifications.get(one.name)
    return {
      ...shownBackup(one, world.vault.fingerprint),
      ...(verification?.status === 'COMPLETE' && verification.ended_at !== null ? { verified_at: verification.ended_at } : {}),
      ...(verification?.failure_detail ? { verification_failure: verification.failure_detail } : {}),
    }
  })
  return { backups: backups.toReversed(), tasks: (await selectTasks(world.meta, TASKS_SHOWN)).map(shownTask) }
}

function shownBackup(found: FoundBackup, masterKey: string): Backup {
  const { name } = found
  switch (found.kind) {
    case 'unusable':
      return { name, status: 'UNUSABLE', is_own: false, detail: found.why }
    case 'unfinished':
      return { name, status: 'UNFINISHED', is_own: found.masterKey === masterKey, started_at: found.startedMs }
    case 'complete': {
      const { base, version, started_at_ms, made_at_ms, master_key, events } = found.manifest
      return {
        name,
        status: 'COMPLETE',
        is_own: master_key === masterKey,
        kind: base === null ? 'FULL' : 'INCREMENTAL',
        ...(base === null ? {} : { base }),
        version,
        started_at: started_at_ms,
        made_at: made_at_ms,
        bytes: events.bytes,
      }
    }
  }
}

export const shownTask = (row: BackupTaskRow): BackupTask => ({
  id: row.id,
  task: row.task,
  status: row.status,
  trigger: row.trigger,
  created_at: row.created_at,
  ...(row.backup === null ? {} : { backup: row.backup }),
  ...(row.started_at === null ? {} : { started_at: row.started_at }),
  ...(row.ended_at === null ? {} : { ended_at: row.ended_at }),
  ...(row.failure_detail === null ? {} : { failure_detail: row.failure_detail }),
  ...(row.rows === null ? {} : { rows: row.rows }),
  ...(row.org_id === null ? {} : { org_id: row.org_id }),
  ...(row.dataset_id === null ? {} : { dataset_id: row.dataset_id }),
})

export async function findTask(world: World, actor: Actor, id: string): Promise<BackupTask> {
  await checkManager(world, actor, { noun: 'task', id })
  const row = isUuid(id) ? await selectTask(world.meta, id) : undefined
  if (!row) throw notFound('task', id)
  return shownTask(row)
}

export async function requestBackup(world: World, actor: Actor): Promise<BackupTask> {
  await openFor(world, actor)
  return request(world, actor, newTask(world, { task: 'BACKUP', trigger: 'REQUEST', created_by: actor.identity }))
}

export async function requestVerification(world: World, actor: Actor, name: string): Promise<BackupTask> {
  const found = await foundIn(await openFor(world, actor, name))
  checkUsable(world, found, name)
  return request(world, actor, newTask(world, { task: 'VERIFICATION', trigger: 'REQUEST', created_by: actor.identity, backup: name }))
}

export async function requestRestoration(
  world: World,
  actor: Actor,
  { backupName: name, datasetId }: { backupName: string; datasetId: string },
  wanted: NewRestoration,
): Promise<BackupTask> {
  const policy = await openFor(world, actor, name)
  const manifest = checkUsable(world, await foundIn(policy), name)
  const planned = await planRestoration(world, policy.place, manifest, { ...wanted, dataset_id: datasetId })
  const own = { task: 'RESTORATION', trigger: 'REQUEST', created_by: actor.identity, backup: name, ...planned } as const
  return request(world, actor, newTask(world, own))
}

/** A backup of another deployment would be unreadable or, worse, mix its data into this one. */
function checkUsable(world: World, found: readonly FoundBackup[], name: string) {
  const one = found.find((each) => each.name === name)
  if (!one) throw notFound('backup', name)
  let manifest: ReturnType<typeof chainOf>[number] | undefined
  try {
    manifest = chainOf(found, name).at(-1)
  } catch (cause) {
    throw conflict(cause instanceof Error ? cause.message : String(cause))
  }
  if (!manifest || manifest.master_key !== world.vault.fingerprint) throw conflict(`the backup ${name} is of another deployment`)
  return manifest
}

async function request(world: World, actor: Actor, row: BackupTaskRow): Promise<BackupTask> {
  const shown = shownTask(row)
  await world.meta.write(actor.orgId, async (tx) => {
    if (!(await addTask(world, tx, row))) throw conflict(`another ${row.task.toLowerCase()} is under way; GET /backups shows it`)
    await recordChange(world, tx, actor, { entity: { type: 'backup', id: row.backup ?? row.id }, after: shown })
  })
  return shown
}
