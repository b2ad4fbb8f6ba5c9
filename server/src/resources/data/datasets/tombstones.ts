import { enqueue } from '../../../jobs/jobs.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'

export { deleteTombstones, selectTombstones, type TombstoneRow } from './rows.ts'

/** The kind of the job that removes events from the store: one for the deployment, since one statement serves all datasets. */
export const EVENT_REMOVAL_JOB = 'event_removal'

/** Makes the job due now instead of at its next run. The tombstones hold its work, so nothing is lost with a job. */
export const enqueueRemoval = (world: Pick<World, 'clock' | 'ids'>, tx: Db): Promise<void> =>
  enqueue(world, tx, { kind: EVENT_REMOVAL_JOB, orgId: undefined, key: '', payload: {} })
