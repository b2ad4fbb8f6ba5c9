import type { NewRestoration } from '@dendro/api'
import { readEventsList } from '../../../backups/events-list.ts'
import { type BackupManifest, chainOf, listBackups } from '../../../backups/manifest.ts'
import { readPieces } from '../../../backups/pieces.ts'
import type { BackupPlace } from '../../../backups/place.ts'
import { withPart } from '../../../backups/verify.ts'
import { openSeq, type Seq } from '../../../events/writer/seq.ts'
import { conflict, notFound } from '../../../kernel/errors.ts'
import type { Slot } from '../../../lines/layout/slots.ts'
import { eventsTables, type TableClass } from '../../../lines/layout/table.ts'
import { readCopiedRows } from '../../../meta/table-copy.ts'
import type { World } from '../../../world.ts'
import { arePoliciesOn } from '../../access/policies/policies.ts'
import { insertLayout } from '../../data/catalog/catalog.ts'
import { allDatasets, checkNotReserved, insertRestoredDataset } from '../../data/datasets/datasets.ts'
import { type CopiedDataset, copiedDataset, copyEvents, DATASET_TABLES, nextEvents } from './dataset-rows.ts'
import { type BackupTaskRow, selectOrganizationNumber } from './rows.ts'
import type { TaskResult, TaskStore } from './task-store.ts'

/** Events of one insert, which must be sent soon after their numbers are reserved. */
const EVENTS_AT_ONCE = 200_000

/** Checks a request as far as that is quick. The task itself finds out the rest. */
export async function planRestoration(
  world: World,
  place: BackupPlace,
  manifest: BackupManifest,
  { dataset_id, dataset, collection }: NewRestoration & { dataset_id: string },
): Promise<Pick<BackupTaskRow, 'org_id' | 'dataset_id' | 'request'>> {
  const source = await readDataset(world, place, manifest, dataset_id)
  const wanted = { source_id: dataset_id, collection: collection ?? source.collection, dataset }
  checkNotReserved('collection', wanted.collection)
  checkNotReserved('dataset', dataset)
  const living = await allDatasets(world, source.org_id)
  if (living.some((each) => each.collection === wanted.collection && each.dataset === dataset)) {
    throw conflict(`the organization has a dataset ${wanted.collection}/${dataset} already; give the new one another name`)
  }
  const isMoved = wanted.collection !== source.collection
  if (await arePoliciesOn(world, source.org_id, { id: dataset_id, ...(isMoved ? { collection: source.collection } : {}) })) {
    throw conflict(
      'a policy hides the dataset from some, and would not hide the new one: name the collection in the policy instead, and keep the collection',
    )
  }
  return { org_id: source.org_id, dataset_id: world.ids.uuid(), request: wanted }
}

async function readDataset(world: World, place: BackupPlace, manifest: BackupManifest, id: string): Promise<CopiedDataset> {
  const tables = manifest.metadata.tables.map(({ pieces, ...table }) => ({ ...table, stored: pieces }))
  const [source] = await readCopiedRows<(typeof tables)[number]['stored'], CopiedDataset>(
    world.meta.url,
    { tables, names: DATASET_TABLES },
    (pieces) => readPieces(place, pieces),
    copiedDataset(id),
  )
  if (!source) throw notFound('dataset', id)
  if ((await selectOrganizationNumber(world.meta, source.org_id))?.number !== source.org_number) {
    throw conflict('the organization of the dataset is not the one of this deployment')
  }
  return source
}

/**
 * Stores the events that a dataset had in a backup as those of a new dataset, partition by partition. They keep their times and lines and get new numbers, since
 * numbers are unique.
 */
export async function restoreDataset(store: TaskStore, world: World, place: BackupPlace, row: BackupTaskRow): Promise<TaskResult> {
  const { org_id: orgId, dataset_id: id, request, backup } = row
  if (orgId === null || id === null || request === null || backup === null) throw new Error('the task is incomplete')
  const manifest = chainOf(await listBackups(place), backup).at(-1)
  if (!manifest) throw new Error(`the backup ${backup} does not exist`)
  const source = await readDataset(world, place, manifest, request.source_id)
  await createDataset(world, { orgId, id, ...request }, source)
  const seq = openSeq(world.events, world)
  const { parts } = await readEventsList(place, backup)
  let rows = 0
  for (const part of parts.filter(({ table }) => eventsTables.includes(table))) {
    const from = { orgNumber: source.org_number, fromId: request.source_id }
    rows += await withPart(store, manifest, part, () => copyPart({ store, world, seq }, from, { table: part.table, id }))
  }
  return { rows }
}

type Copying = { store: TaskStore; world: World; seq: Seq }

async function copyPart(
  { store, world, seq }: Copying,
  from: { orgNumber: number; fromId: string },
  to: { table: string; id: string },
): Promise<number> {
  let copied = 0
  for (let after = 0n; ; ) {
    store.signal.throwIfAborted()
    const { rows, last } = await nextEvents(store.outside, from, after, EVENTS_AT_ONCE)
    if (rows === 0) return copied
    const first = await seq.reserve(rows)
    const change = world.events.changes?.beginAnywhere()
    try {
      await copyEvents(store.outside, from, { ...to, after, last, first })
    } finally {
      change?.end()
      seq.end(first)
    }
    copied += rows
    after = last
  }
}

async function createDataset(
  world: World,
  made: { orgId: string; id: string; collection: string; dataset: string },
  { layout, slots }: CopiedDataset,
): Promise<void> {
  await world.meta.write(made.orgId, async (tx) => {
    if (!(await insertRestoredDataset(world, tx, made))) {
      throw new Error(`the organization has a dataset ${made.collection}/${made.dataset} already`)
    }
    if (!layout) return
    await insertLayout(tx, made.orgId, made.id, {
      ...layout,
      table_classes: layout.table_classes as TableClass[],
      slots: slots.map((one) => ({ ...one, slot: one.slot as Slot })),
    })
  })
}
