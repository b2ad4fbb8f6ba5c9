import { isDeepStrictEqual } from 'node:util'
import type { BodyOf, contract, Retention } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { badField, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { AUDIT_COLLECTION, recordChange } from '../../access/audit/audit.ts'
import { fixedRetention } from './fixed-retention.ts'
import { shownDataset, visibleDatasets } from './listing.ts'
import { type DatasetRow, insertDataset, lockDataset, markDatasetDeleted, type RetentionMark, updateDatasetRow } from './rows.ts'
import { enqueueRemoval } from './tombstones.ts'

export { listDatasets } from './dataset-pages.ts'
export {
  type DatasetRoute,
  deleteOldCreationCounts,
  ensureDatasets,
  NEW_DATASETS_MAX,
} from './ensure.ts'
export { checkSeesWhole, type EventFilters, eventFiltersOf, seenThrough, wholeDatasets } from './event-filters.ts'
export { CANARY_COLLECTION, fixedRetention } from './fixed-retention.ts'
export { Heartbeats } from './heartbeats.ts'
export {
  allDatasets,
  type DatasetList,
  type LatestArrivals,
  latestArrivals,
  shownDataset,
  visibleDatasets,
  withArrivals,
} from './listing.ts'
export type { DatasetRow } from './rows.ts'
export { visibleLogIds } from './seen-logs.ts'
export {
  type DatasetSelection,
  datasetSelectionOf,
  type SourceSelection,
  selectedDatasets,
  sourceDatasets,
} from './source.ts'
export { deleteTombstones, EVENT_REMOVAL_JOB, selectTombstones, type TombstoneRow } from './tombstones.ts'
export {
  type DatasetReference,
  type DatasetVisibility,
  isSameIdentity,
  visibilityFor,
  visibilityOfDefinitions,
  visibleRows,
} from './visibility.ts'

import { createdBy, modifiedBy } from '../../records.ts'

type NewDataset = BodyOf<typeof contract.datasets.create>
/** Fields that are absent stay; a retention of null returns to the organization's default. */
type DatasetChange = Partial<BodyOf<typeof contract.datasets.update>>

export async function findDataset(
  world: Pick<World, 'meta'>,
  actor: Actor,
  id: string,
  noun: 'dataset' | 'log' = 'dataset',
): Promise<DatasetRow> {
  const row = (await visibleDatasets(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound(noun, id)
  return row
}

export async function createDataset(world: World, actor: Actor, request: NewDataset): Promise<DatasetRow> {
  checkNotReserved('collection', request.collection)
  checkNotReserved('dataset', request.dataset)
  if (request.retention !== undefined) checkRetentionPermission(actor)
  const nowMs = world.clock.nowMs()
  const row: DatasetRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    collection: request.collection,
    dataset: request.dataset,
    is_system_generated: false,
    tags: request.tags,
    parser_id: null,
    retention: request.retention ?? null,
    retention_mark: request.retention ? { created_by: actor.identity.id, created_at: nowMs } : null,
    ...createdBy(actor, nowMs),
  }
  return world.meta.write(actor.orgId, async (tx) => {
    const made = await insertDataset(tx, row)
    if (!made) throw nameTaken(request.collection, request.dataset)
    await recordChange(world, tx, actor, { entity: { type: 'dataset', id: made.id }, after: shownDataset(made) })
    return made
  })
}

/** Renames, moves or sets the retention; names of system datasets cannot change. */
export const updateDataset = (world: World, actor: Actor, id: string, change: DatasetChange): Promise<DatasetRow> =>
  changeDataset(world, actor, id, change, (before, next) => {
    if (next.retention !== before.retention) checkRetentionPermission(actor)
    if (!isDeepStrictEqual(next.tags, before.tags)) checkTagPermission(actor)
  })

/** Sets only the retention; `check` sees the locked dataset. Callers check the permission. */
export const setDatasetRetention = (
  world: World,
  actor: Actor,
  id: string,
  retention: Retention | null,
  check: (before: DatasetRow) => void,
): Promise<DatasetRow> => changeDataset(world, actor, id, { retention }, check)

async function changeDataset(
  world: World,
  actor: Actor,
  id: string,
  change: DatasetChange,
  check: (before: DatasetRow, next: DatasetRow) => void,
): Promise<DatasetRow> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockDataset(tx, actor.orgId, id)
    if (!before) throw notFound('dataset', id)
    const retention = change.retention === undefined ? before.retention : change.retention
    const nowMs = world.clock.nowMs()
    const next: DatasetRow = {
      ...before,
      collection: change.collection ?? before.collection,
      dataset: change.dataset ?? before.dataset,
      tags: change.tags ?? before.tags,
      retention,
      retention_mark: markOf(before, retention, actor, nowMs),
      ...modifiedBy(actor, nowMs),
    }
    check(before, next)
    const fixed = fixedRetention(before.collection)
    if (fixed && next.retention !== null) throw badField('retention', `cannot be set here: ${fixed.reason}`)
    if (next.collection !== before.collection || next.dataset !== before.dataset) checkRename(before, next)
    const row = await updateDatasetRow(tx, next).catch((thrown) => {
      throw isNameTaken(thrown) ? nameTaken(next.collection, next.dataset) : thrown
    })
    if (!row) throw notFound('dataset', id)
    await recordChange(world, tx, actor, { entity: { type: 'dataset', id }, before: shownDataset(before), after: shownDataset(row) })
    return row
  })
}

function markOf(before: DatasetRow, retention: DatasetRow['retention'], actor: Actor, nowMs: number): RetentionMark | null {
  if (retention === before.retention) return before.retention_mark ?? null
  if (retention === null) return null
  const who = actor.identity.id
  return before.retention_mark ? { ...before.retention_mark, updated_by: who, updated_at: nowMs } : { created_by: who, created_at: nowMs }
}

/** Leaves a tombstone and enqueues the removal of the events, in one transaction. */
export async function removeDataset(world: World, actor: Actor, record: DatasetRow): Promise<undefined> {
  if (record.is_system_generated) throw forbidden('a system dataset cannot be deleted')
  await world.meta.write(actor.orgId, async (tx) => {
    const before = await lockDataset(tx, actor.orgId, record.id)
    if (!before) throw notFound('dataset', record.id)
    await markDatasetDeleted(tx, actor.orgId, record.id, world.clock.nowMs(), actor.identity)
    await enqueueRemoval(world, tx)
    await recordChange(world, tx, actor, { entity: { type: 'dataset', id: record.id }, before: shownDataset(before) })
  })
}

/** A dataset for events of a backup; false when its name is taken. */
export async function insertRestoredDataset(
  { clock }: Pick<World, 'clock'>,
  tx: Db,
  { orgId, id, collection, dataset }: { orgId: string; id: string; collection: string; dataset: string },
): Promise<boolean> {
  const [nowMs, nobody] = [clock.nowMs(), { created_by: null, modified_by: null }]
  const names = { org_id: orgId, id, collection, dataset, is_system_generated: false, tags: {}, parser_id: null, retention: null }
  return (await insertDataset(tx, { ...names, ...nobody, created_at: nowMs, modified_at: nowMs })) !== undefined
}

/** Adds a dataset for events of the service itself, unless it is there. */
export const addSystemDataset = (
  { clock, ids }: Pick<World, 'clock' | 'ids'>,
  tx: Db,
  orgId: string,
  name: Pick<DatasetRow, 'collection' | 'dataset'>,
): Promise<unknown> => insertOwnDataset(tx, { ...name, is_system_generated: true, org_id: orgId, id: ids.uuid() }, clock.nowMs())

/** Creates the datasets that every organization has. */
export async function bootstrapDatasets(world: Pick<World, 'clock' | 'ids'>, tx: Db, orgId: string): Promise<void> {
  const nowMs = world.clock.nowMs()
  const names = [
    { collection: 'default', dataset: 'default', is_system_generated: false },
    { collection: AUDIT_COLLECTION, dataset: 'audit-trail', is_system_generated: true },
    { collection: '.usage', dataset: 'usage', is_system_generated: true },
  ]
  for (const name of names) await insertOwnDataset(tx, { ...name, org_id: orgId, id: world.ids.uuid() }, nowMs)
}

type OwnDataset = Pick<DatasetRow, 'collection' | 'dataset' | 'is_system_generated' | 'org_id' | 'id'>

const insertOwnDataset = (tx: Db, row: OwnDataset, nowMs: number) =>
  insertDataset(tx, {
    ...row,
    tags: {},
    parser_id: null,
    retention: null,
    created_at: nowMs,
    created_by: null,
    modified_at: nowMs,
    modified_by: null,
  })

function checkRetentionPermission(actor: Actor): void {
  if (!hasPermission(actor, 'retention_write')) throw forbidden('setting retention needs the permission retention_write')
}

function checkTagPermission(actor: Actor): void {
  if (!hasPermission(actor, 'tag_write')) throw forbidden('changing tags needs the permission tag_write')
}

/** Reserves names with a leading dot for system datasets. */
export function checkNotReserved(field: 'collection' | 'dataset', name: string): void {
  if (name.startsWith('.')) throw badField(field, 'must not begin with a dot: such names belong to the system', 'RESERVED')
}

function checkRename(before: DatasetRow, next: DatasetRow): void {
  if (before.is_system_generated) throw forbidden('a system dataset cannot be renamed or moved')
  checkNotReserved('collection', next.collection)
  checkNotReserved('dataset', next.dataset)
}

/** PostgreSQL's unique_violation: the unique index resolves a race for a name. */
const isNameTaken = (thrown: unknown): boolean => thrown instanceof Error && 'code' in thrown && thrown.code === '23505'

const nameTaken = (collection: string, dataset: string) => conflict(`a dataset ${dataset} already exists in the collection ${collection}`)
