import type { Dataset } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { AUDIT_COLLECTION } from '../../access/audit/audit.ts'
import { visibleTo } from '../../access/policies/policies.ts'
import { permissionsOf } from '../../access/roles/roles.ts'
import { type DatasetRow, selectDatasets, selectHeartbeats } from './rows.ts'

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
  world.meta.cachedRows(orgId, 'datasets', {
    read: (changed) => selectDatasets(world.meta, orgId, changed),
    idsIn: { datasets: ({ id }) => id },
  })

/** The latest arrival of data of datasets, by id. */
export type LatestArrivals = ReadonlyMap<string, number>

/** They are not part of the datasets, which would otherwise be read again every few seconds. */
export const latestArrivals = (world: Pick<World, 'meta'>, orgId: string): Promise<LatestArrivals> =>
  world.meta.cached(
    orgId,
    'latest-arrivals',
    async () => new Map((await selectHeartbeats(world.meta, orgId)).map(({ log_id, beat_at }) => [log_id, beat_at])),
    { ageMaxMs: HEARTBEAT_AGE_MS },
  )

/** Some datasets with the times of their latest data: the same object as long as neither changes, because serialized lists are cached by identity. */
export type DatasetList = { readonly rows: readonly DatasetRow[]; readonly arrivals: LatestArrivals }

export async function withArrivals(world: Pick<World, 'meta'>, orgId: string, rows: readonly DatasetRow[]): Promise<DatasetList> {
  const arrivals = await latestArrivals(world, orgId)
  const lists = knownLists.get(arrivals) ?? new WeakMap<readonly DatasetRow[], DatasetList>()
  knownLists.set(arrivals, lists)
  const list = lists.get(rows) ?? { rows, arrivals }
  lists.set(rows, list)
  return list
}

const knownLists = new WeakMap<LatestArrivals, WeakMap<readonly DatasetRow[], DatasetList>>()

/** `arrivals` are absent for the audit trail. */
export function shownDataset(row: DatasetRow, arrivals?: LatestArrivals): Dataset {
  return {
    id: row.id,
    collection: row.collection,
    dataset: row.dataset,
    is_system_generated: row.is_system_generated,
    tags: row.tags,
    ...(row.parser_id === null ? {} : { parser_id: row.parser_id }),
    ...(row.retention ? { retention: row.retention } : {}),
    metadata: metadataOf({ ...row, last_heartbeat_at: arrivals?.get(row.id) }),
  }
}
