import type { World } from '../../world.ts'
import { selectApiKey } from '../api-keys/rows.ts'
import { allDatasets } from '../datasets/datasets.ts'
import { selectUser } from '../users/rows.ts'
import { mayLogIn } from '../users/user-record.ts'
import type { ExportRow } from './rows.ts'
import { datasetIds } from './state.ts'

/** whyNotGoOn tells whether what an export stands on is gone: who ordered it, or a dataset. */
export async function whyNotGoOn(world: Pick<World, 'meta'>, row: ExportRow): Promise<string | undefined> {
  if (!(await isHere(world, row))) return 'whoever ordered it has been removed'
  const known = new Set((await allDatasets(world, row.org_id)).map(({ id }) => id))
  const gone = datasetIds(row).find((id) => !known.has(id))
  return gone === undefined ? undefined : `the dataset ${gone} was deleted before the export was complete`
}

async function isHere({ meta }: Pick<World, 'meta'>, { org_id, created_by }: ExportRow): Promise<boolean> {
  if (created_by.type === 'API_KEY_ID') return (await selectApiKey(meta, org_id, created_by.id)) !== undefined
  const user = await selectUser(meta, org_id, created_by.id)
  // A guest belongs to another organisation, whose affair he is.
  return user === undefined || mayLogIn(user.status)
}
