import { type Export, isUuid, type NewExport } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { badField, notFound, unavailable } from '../../../kernel/errors.ts'
import { boundsOf, rangeFieldsIn } from '../../../query/bounds.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter } from '../../../query/query.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { datasetSelectionOf, eventFiltersOf, selectedDatasets, visibilityFor } from '../../data/datasets/datasets.ts'
import { signedLink } from './links.ts'
import { deleteExport, type ExportRow, insertExport, type NewExportRow, selectExport, selectExports } from './rows.ts'
import { highestSequence } from './snapshot.ts'
import { datasetIds, draftOf, EXPORTING } from './state.ts'

export { ndjsonLine } from './lines.ts'
export { parquetWriter } from './parquet.ts'
export { exportRemoval } from './removal.ts'
export { exporting } from './run.ts'

/**
 * Newest first, each finished one with a fresh link. Exports that read a dataset hidden from the caller, or events that the caller does not see, are
 * omitted.
 */
export async function listExports(world: World, actor: Actor): Promise<Export[]> {
  const { seesThrough } = await visibilityFor(world, actor)
  const rows = await selectExports(world.meta, actor.orgId)
  return rows.filter((row) => seesThrough(datasetIds(row), row.event_filters)).map((row) => exportReply(world, actor, row))
}

export async function findExport(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<ExportRow> {
  const row = isUuid(id) ? await selectExport(world.meta, actor.orgId, id) : undefined
  if (!row || !(await visibilityFor(world, actor)).seesThrough(datasetIds(row), row.event_filters)) throw notFound('export', id)
  return row
}

/** Fixes at creation which events belong to the export: the datasets, the range, the highest sequence number, and what policies show of them. */
export async function createExport(world: World, actor: Actor, request: NewExport): Promise<Export> {
  const { search_details: wanted, format, compression } = request
  const nowMs = world.clock.nowMs()
  if (!wanted.from?.length && !wanted.from_expr?.trim()) throw badField('search_details.from', 'or from_expr is required', 'MISSING_SOURCE')
  const { bounds, choose } = parseAll({
    filter: () => parseFilter(wanted.where ?? '', 'search_details.where'),
    bounds: () => boundsOf(wanted, nowMs, undefined, rangeFieldsIn('search_details')),
    choose: () => datasetSelectionOf(wanted, 'search_details'),
  })
  const datasets = inOrder(await selectedDatasets(world, actor, choose), wanted)
  const refusal = await world.blobStore.unavailableReason()
  if (refusal) throw unavailable(refusal, { retryAfterS: 60 })
  const ids = datasets.map(({ id }) => id)
  const row: NewExportRow = {
    id: world.ids.uuid(),
    org_id: actor.orgId,
    status: 'CREATED',
    search_details: {
      from: ids.join(':'),
      ...(wanted.from_expr === undefined ? {} : { from_expr: wanted.from_expr }),
      ...(wanted.time_range === undefined ? {} : { time_range: wanted.time_range }),
      ...(wanted.where === undefined ? {} : { where: wanted.where }),
      from_ts: bounds.fromMs,
      to_ts: bounds.toMs,
    },
    format,
    compression,
    seq_max: String(await highestSequence(world, actor, ids, bounds)),
    event_filters: await eventFiltersOf(world, actor, datasets),
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
  }
  const shown = exportReply(world, actor, { ...row, progress: 0, bytes: 0, events: 0, state: {}, failure_detail: null, ended_at: null })
  await world.meta.write(actor.orgId, async (tx) => {
    await insertExport(tx, row)
    await enqueue(world, tx, {
      kind: EXPORTING,
      orgId: actor.orgId,
      key: row.id,
      payload: { export_id: row.id, org_number: actor.orgNumber },
    })
    await recordChange(world, tx, actor, { entity: { type: 'export', id: row.id }, after: { ...shown, location: '' } })
  })
  return shown
}

/** Orders datasets as named, otherwise by name; the file has the same order. */
function inOrder(datasets: readonly DatasetRow[], { from = [], from_expr }: NewExport['search_details']): DatasetRow[] {
  const place = new Map(from_expr?.trim() ? [] : from.map((id, index) => [id, index]))
  const byName = (a: DatasetRow, b: DatasetRow) => a.collection.localeCompare(b.collection) || a.dataset.localeCompare(b.dataset)
  return datasets.toSorted((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0) || byName(a, b))
}

/** The export is unknown at once. A running job notices when it saves its progress. */
export async function removeExport(world: World, actor: Actor, record: ExportRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteExport(tx, actor.orgId, record.id)) === 0) throw notFound('export', record.id)
    const before = { ...exportReply(world, actor, record), location: '' }
    await recordChange(world, tx, actor, { entity: { type: 'export', id: record.id }, before })
  })
  await world.blobStore.remove(draftOf(record)).catch((err) => {
    world.log.warn({ err, export_id: record.id }, 'the file of a deleted export could not be removed yet')
  })
}

export const exportReply = (world: Pick<World, 'clock' | 'vault'>, actor: Actor, row: ExportRow): Export => ({
  export_id: row.id,
  org_id: row.org_id,
  progress: row.progress,
  status: row.status,
  bytes: row.bytes,
  events: row.events,
  location: row.status === 'COMPLETE' ? signedLink(world, actor, row.id) : '',
  search_details: row.search_details,
  format: row.format,
  compression: row.compression,
  created_at: row.created_at,
  modified_at: row.modified_at,
  ...(row.failure_detail === null ? {} : { failure_detail: row.failure_detail }),
})
