import type { Dataset } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { AUDIT_COLLECTION } from '../../access/audit/audit.ts'
import { visibleTo } from '../../access/policies/policies.ts'
import { permissionsOf } from '../../access/roles/roles.ts'
import { type DatasetRow, selectDatasets } from './rows.ts'

/** How far the times of arrival in a list may lag, because they do not invalidate caches. */
const HEARTBEAT_AGE_MS = 3_000

/** Every dataset the caller may see, newest first; all reads of datasets go through it. */
export async function visibleDatasets(world: Pick<World, 'meta'>, actor: Actor): Promise<readonly DatasetRow[]> {
  const visible = await visibleTo(world, actor, await allDatasets(world, actor.orgId))
  return (await mayReadAudit(world, actor)) ? visible : withoutAudit(visible)
}

/** Events of the audit trail require the permission to read it. Work on somebody's behalf has only that user's roles. */
const mayReadAudit = async (world: Pick<World, 'meta'>, actor: Actor): Promise<boolean> =>
  hasPermission(actor, 'audit_read') ||
  (actor.permissions.size === 0 && (await permissionsOf(world, actor.orgId, actor.roles)).has('audit_read'))

/** Returns the same list object for the same list, because serialized lists are cached by identity. */
function withoutAudit(visible: readonly DatasetRow[]): readonly DatasetRow[] {
  const known = listsWithoutAudit.get(visible) ?? visible.filter(({ collection }) => collection !== AUDIT_COLLECTION)
  listsWithoutAudit.set(visible, known)
  return known
}

const listsWithoutAudit = new WeakMap<readonly DatasetRow[], readonly DatasetRow[]>()

/** Every dataset of an organization, for callers that check visibility themselves. */
export const allDatasets = (world: Pick<World, 'meta'>, orgId: string): Promise<readonly DatasetRow[]> =>
  world.meta.cached(orgId, 'datasets', () => selectDatasets(world.meta, orgId), { ageMaxMs: HEARTBEAT_AGE_MS })

export function shownDataset(row: DatasetRow): Dataset {
  return {
    id: row.id,
    collection: row.collection,
    dataset: row.dataset,
    is_system_generated: row.is_system_generated,
    tags: row.tags,
    ...(row.parser_id === null ? {} : { parser_id: row.parser_id }),
    ...(row.retention ? { retention: row.retention } : {}),
    metadata: metadataOf(row),
  }
}
