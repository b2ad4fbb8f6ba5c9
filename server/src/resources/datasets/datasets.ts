import type { BodyOf, contract, Dataset } from '@dendro/api'
import { conflict, forbidden, notFound } from '../../errors.ts'
import { type Actor, holds } from '../../http/actor.ts'
import type { Db } from '../../meta/meta.ts'
import { metadataOf } from '../../meta/metadata.ts'
import type { World } from '../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { buryDataset, type DatasetRow, insertDataset, selectDatasetByName, selectDatasets, updateDatasetRow } from './rows.ts'

type NewDataset = BodyOf<typeof contract.datasets.create>
type DatasetChange = BodyOf<typeof contract.datasets.update>

/** visibleDatasets is every dataset the caller may see, newest first; all reads of datasets go through it. */
export async function visibleDatasets(world: Pick<World, 'meta'>, actor: Actor): Promise<readonly DatasetRow[]> {
  return world.meta.cached(actor.orgId, 'datasets', () => selectDatasets(world.meta, actor.orgId))
}

export async function listDatasets(world: Pick<World, 'meta'>, actor: Actor): Promise<Dataset[]> {
  return (await visibleDatasets(world, actor)).map(shownDataset)
}

export async function findDataset(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<DatasetRow> {
  const row = (await visibleDatasets(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('dataset', id)
  return row
}

export async function createDataset(world: World, actor: Actor, ask: NewDataset): Promise<Dataset> {
  if (ask.retention !== undefined) mustSetRetention(actor)
  const nowMs = world.clock.nowMs()
  const row: DatasetRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    collection: ask.collection,
    dataset: ask.dataset,
    is_system_generated: false,
    tags: ask.tags,
    parser_id: null,
    retention: ask.retention ?? null,
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  return world.meta.write(actor.orgId, async (tx) => {
    const made = await insertDataset(tx, row)
    if (!made) throw taken(ask.collection, ask.dataset)
    await recordChange(world, tx, actor, { entity: { type: 'dataset', id: made.id }, after: shownDataset(made) })
    return shownDataset(made)
  })
}

export async function updateDataset(world: World, actor: Actor, record: DatasetRow, change: DatasetChange): Promise<Dataset> {
  if (record.is_system_generated) throw forbidden('a system dataset cannot be renamed or changed')
  if (change.retention !== undefined) mustSetRetention(actor)
  const next = {
    ...record,
    collection: change.collection,
    dataset: change.dataset ?? record.dataset,
    retention: change.retention === undefined ? record.retention : change.retention,
    modified_at: world.clock.nowMs(),
    modified_by: actor.identity,
  }
  return world.meta.write(actor.orgId, async (tx) => {
    const holder = await selectDatasetByName(tx, actor.orgId, next.collection, next.dataset)
    if (holder && holder.id !== record.id) throw taken(next.collection, next.dataset)
    const row = await updateDatasetRow(tx, next)
    if (!row) throw notFound('dataset', record.id)
    await recordChange(world, tx, actor, {
      entity: { type: 'dataset', id: row.id },
      before: shownDataset(record),
      after: shownDataset(row),
    })
    return shownDataset(row)
  })
}

export async function removeDataset(world: World, actor: Actor, record: DatasetRow): Promise<undefined> {
  if (record.is_system_generated) throw forbidden('a system dataset cannot be deleted')
  await world.meta.write(actor.orgId, async (tx) => {
    await buryDataset(tx, actor.orgId, record.id, world.clock.nowMs(), actor.identity)
    await recordChange(world, tx, actor, { entity: { type: 'dataset', id: record.id }, before: shownDataset(record) })
  })
}

/** bootstrapDatasets makes what every organisation has from the start. */
export async function bootstrapDatasets(world: Pick<World, 'clock' | 'ids'>, tx: Db, orgId: string): Promise<void> {
  const nowMs = world.clock.nowMs()
  const names = [
    { collection: 'default', dataset: 'default', is_system_generated: false },
    { collection: '.audit-trail', dataset: 'audit-trail', is_system_generated: true },
    { collection: '.usage', dataset: 'usage', is_system_generated: true },
  ]
  for (const name of names) {
    await insertDataset(tx, {
      ...name,
      org_id: orgId,
      id: world.ids.uuid(),
      tags: {},
      parser_id: null,
      retention: null,
      created_at: nowMs,
      created_by: null,
      modified_at: nowMs,
      modified_by: null,
    })
  }
}

function mustSetRetention(actor: Actor): void {
  if (!holds(actor, 'retention_write')) throw forbidden('setting retention needs the permission retention_write')
}

const taken = (collection: string, dataset: string) => conflict(`a dataset ${dataset} exists already in the collection ${collection}`)

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
