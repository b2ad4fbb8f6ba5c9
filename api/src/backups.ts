import { z } from 'zod'
import { datasetName } from './datasets.ts'
import { endpoint } from './endpoint.ts'
import { ms, text, uuid } from './values.ts'

const Backup = z
  .object({
    name: z.string().describe('The time of its start; the folder in the place of backups.'),
    status: z
      .enum(['COMPLETE', 'UNFINISHED', 'UNUSABLE'])
      .describe('UNFINISHED: being made, or interrupted. UNUSABLE: damaged, or made by a newer version.'),
    is_own: z.boolean().describe('False for backups of other deployments in the same place, which are never removed.'),
    detail: z.string().optional().describe('Why it is UNUSABLE.'),
    kind: z.enum(['FULL', 'INCREMENTAL']).optional(),
    base: z.string().optional().describe('The backup that an incremental one builds upon.'),
    version: z.string().optional().describe('The version of the service that made it.'),
    started_at: ms.optional(),
    made_at: ms.optional().describe('The moment of the metadata. The events are those that were stored shortly before.'),
    bytes: z.int().optional().describe('Size of the events, including those of the backups that it builds upon.'),
    verified_at: ms.optional().describe('When it was last read completely without finding damage.'),
    verification_failure: z.string().optional().describe('What the last verification found.'),
  })
  .meta({ id: 'Backup' })
export type Backup = z.output<typeof Backup>

const BackupTask = z
  .object({
    id: uuid,
    task: z.enum(['BACKUP', 'VERIFICATION', 'RESTORATION']),
    status: z.enum(['CREATED', 'IN_PROGRESS', 'COMPLETE', 'FAILED']),
    trigger: z.enum(['REQUEST', 'SCHEDULE']),
    backup: z.string().optional().describe('The backup that is made, verified or restored from.'),
    created_at: ms,
    started_at: ms.optional(),
    ended_at: ms.optional(),
    failure_detail: z.string().optional(),
    rows: z.int().optional().describe('Rows of the event store that a verification has read, or events that a restoration has stored.'),
    org_id: uuid.optional().describe('The organization of the restored dataset.'),
    dataset_id: uuid.optional().describe('The new dataset with the restored events.'),
  })
  .meta({ id: 'BackupTask' })
export type BackupTask = z.output<typeof BackupTask>

const NewRestoration = z.object({
  dataset: datasetName.describe('The name of the new dataset.'),
  collection: datasetName.optional().describe('Its collection. Default: that of the dataset in the backup.'),
})
export type NewRestoration = z.output<typeof NewRestoration>

/** Names of backups are free text; a malformed one is 404. */
const params = z.object({ backupName: text(1, 255) })

export const backups = {
  list: endpoint({
    method: 'GET',
    path: '/backups',
    permission: 'customer_read',
    tier: 'D',
    summary: 'List the backups of the deployment and the latest work on them, newest first; for the management organization',
    reply: z.object({ backups: z.array(Backup), tasks: z.array(BackupTask) }),
    fails: [501, 503],
  }),
  create: endpoint({
    method: 'POST',
    path: '/backups',
    permission: 'customer_write',
    tier: 'D',
    summary: 'Back up both stores; for the management organization',
    description:
      'The service goes on meanwhile. The backup has every event and every change that was acknowledged before its start. Poll the task until it is COMPLETE. To restore a whole backup, run `restore-backup` on the host.',
    status: 202,
    reply: BackupTask,
    fails: [409, 501],
  }),
  task: endpoint({
    method: 'GET',
    path: '/backups/tasks/{taskId}',
    permission: 'customer_read',
    tier: 'D',
    summary: 'Get the state of work on backups; for the management organization',
    reply: BackupTask,
    fails: [404],
  }),
  verify: endpoint({
    method: 'POST',
    path: '/backups/{backupName}/verifications',
    permission: 'customer_write',
    tier: 'D',
    summary: 'Read every part of a backup and of those that it builds upon; for the management organization',
    params,
    status: 202,
    reply: BackupTask,
    fails: [404, 409, 501, 503],
  }),
  restore: endpoint({
    method: 'POST',
    path: '/backups/{backupName}/datasets/{datasetId}/restorations',
    permission: 'customer_write',
    tier: 'D',
    summary: 'Restore the events of one dataset into a new dataset of the same organization; for the management organization',
    description: 'The dataset may have been deleted since. Everything else stays as it is. The events have their times and original lines.',
    params: params.extend({ datasetId: uuid }),
    body: NewRestoration,
    status: 202,
    reply: BackupTask,
    fails: [404, 409, 501, 503],
  }),
}
