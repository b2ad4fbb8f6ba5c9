import type { Dataset } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { AUDIT_COLLECTION } from '../../access/audit/audit.ts'
import { visibleTo } from '../../access/policies/policies.ts'
import { permissionsOf } from '../../access/roles/roles.ts'
import { type DatasetRow, selectDatasets } from './rows.ts'

/** HEARTBEAT_AGE_MS is how long a list may lag behind the times at which data arrived, which are told to nobody. */
const HEARTBEAT_AGE_MS = 3_000

/** visibleDatasets is every dataset the caller may see, newest first; all reads of datasets go through it. */
export async function visibleDatasets(world: Pick<World, 'meta'>, actor: Actor): Promise<readonly DatasetRow[]> {
  const visible = await visibleTo(world, actor, await allDatasets(world, actor.orgId))
  return (await mayReadAudit(world, actor)) ? visible : withoutAudit(visible)
}

/** mayReadAudit: the events of the audit trail are for those who may read it. Who acts on somebody's behalf has the roles of that one alone. */
const mayReadAudit = async (world: Pick<World, 'meta'>, actor: Actor): Promise<boolean> =>
  hasPermission(actor, 'audit_read') ||
  (actor.permissions.size === 0 && (await permissionsOf(world, actor.orgId, actor.roles)).has('audit_read'))

/** withoutAudit gives the same list for the same list, as those who write lists once rely on. */
function withoutAudit(visible: readonly DatasetRow[]): readonly DatasetRow[] {
  const known = listsWithoutAudit.get(visible) ?? visible.filter(({ collection }) => collection !== AUDIT_COLLECTION)
  listsWithoutAudit.set(visible, known)
  return known
}

const listsWithoutAudit = new WeakMap<readonly DatasetRow[], readonly DatasetRow[]>()

/** allDatasets is every dataset of an organisation, for whoever decides himself what of it may be seen. */
export const allDatasets = (world: Pick<World, 'meta'>, orgId: string): Promise<readonly DatasetRow[]> =>
  world.meta.cached(orgId, 'datasets', () => selectDatasets(world.meta, orgId), { ageMaxMs: HEARTBEAT_AGE_MS })

export function shownDataset(row: DatasetRow): Dataset {
  return {
    id: row.id,
    collection: row.collection,
    dataset: row.dataset,
    is_system_generated: row.is_system_generated,
    tags: row.tags,
    parser_id: row.parser_id ?? '',
    ...(row.retention ? { retention: row.retention } : {}),
    metadata: metadataOf(row),
  }
}
