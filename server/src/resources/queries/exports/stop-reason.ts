import type { World } from '../../../world.ts'
import { apiKeyExists } from '../../access/api-keys/api-keys.ts'
import { isShutOut } from '../../access/users/users.ts'
import { allDatasets } from '../../data/datasets/datasets.ts'
import type { ExportRow } from './rows.ts'
import { datasetIds } from './state.ts'

/** Why the export cannot continue: its creator or a dataset is gone. Undefined when it can. */
export async function reasonToStop(world: Pick<World, 'meta'>, row: ExportRow): Promise<string | undefined> {
  if (!(await creatorExists(world, row))) return 'its creator has been removed'
  const known = new Set((await allDatasets(world, row.org_id)).map(({ id }) => id))
  const gone = datasetIds(row).find((id) => !known.has(id))
  return gone === undefined ? undefined : `the dataset ${gone} was deleted before the export was complete`
}

const creatorExists = async (world: Pick<World, 'meta'>, { org_id, created_by }: ExportRow): Promise<boolean> =>
  created_by.type === 'API_KEY_ID' ? apiKeyExists(world, org_id, created_by.id) : !(await isShutOut(world, org_id, created_by.id))
