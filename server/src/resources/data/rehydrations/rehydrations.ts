import { isUuid, type NewRehydration, type RehydratedFile, type Rehydration } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { enqueue } from '../../../jobs/jobs.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { parseFilter } from '../../../query/query.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import { visibilityFor, visibleDatasets, visibleRows } from '../datasets/datasets.ts'
import { checkBucket, checkDirectory, openOriginSecrets, sealSecrets, splitBucket } from '../sources/sources.ts'
import {
  cancelRehydration,
  insertRehydration,
  type RehydrationRow,
  type RehydrationSums,
  selectFiles,
  selectRehydration,
  selectRehydrations,
  selectSums,
} from './rows.ts'

export {
  advanceFile,
  endRehydration,
  insertFiles,
  noteRehydration,
  planBatch,
  type RehydrationFileRow,
  type RehydrationRow,
  selectEarlier,
  selectNextFile,
  selectRehydration,
} from './rows.ts'

export const REHYDRATION = 'rehydration'
const REHYDRATION_TABLE = 'rehydrations'

type MetaReader = Pick<World, 'meta'>

/** Newest first. Those into datasets that are hidden from the caller are omitted. */
export async function listRehydrations(world: MetaReader, actor: Actor): Promise<Rehydration[]> {
  return replies(world, await seen(world, actor, await selectRehydrations(world.meta, actor.orgId)))
}

const seen = async (world: MetaReader, actor: Actor, rows: readonly RehydrationRow[]): Promise<readonly RehydrationRow[]> =>
  visibleRows(await visibilityFor(world, actor), [...rows], ({ log_id }) => [{ from: [log_id] }])

export async function findRehydration(world: MetaReader, actor: Actor, id: string): Promise<RehydrationRow> {
  const row = isUuid(id) ? await selectRehydration(world.meta, actor.orgId, id) : undefined
  const [found] = row ? await seen(world, actor, [row]) : []
  if (!found) throw notFound('rehydration', id)
  return found
}

export async function showRehydration(world: MetaReader, row: RehydrationRow): Promise<Rehydration> {
  const [reply] = await replies(world, [row])
  if (!reply) throw notFound('rehydration', row.id)
  return reply
}

export async function listFilesOf(world: MetaReader, { id }: RehydrationRow, after: number): Promise<RehydratedFile[]> {
  return (await selectFiles(world.meta, id, after)).map((row) => ({
    number: row.number,
    name: row.name,
    bytes: row.bytes,
    status: row.status,
    read_bytes: row.position,
    read_events: row.read_events,
    stored_events: row.stored_events,
    earlier_events: row.earlier_events,
    unselected_events: row.unselected_events,
    refused_events: row.refused_events,
    ...(row.failure_detail === null ? {} : { failure_detail: row.failure_detail }),
  }))
}

export async function createRehydration(world: World, actor: Actor, request: NewRehydration): Promise<Rehydration> {
  const { log_id, from_ts = null, to_ts = null, filter = '' } = request
  parseFilter(filter, 'filter')
  if (from_ts !== null && to_ts !== null && from_ts >= to_ts) throw badField('from_ts', 'must be earlier than to_ts')
  if (request.origin.kind === 'S3') checkBucket(world.outgoing, request.origin)
  else checkDirectory(world.deployment.sourceDirectories, actor.orgId, request.origin.directory)
  const dataset = (await visibleDatasets(world, actor)).find(({ id }) => id === log_id)
  if (!dataset) throw badField('log_id', `names no dataset: ${log_id}`)
  if (dataset.is_system_generated) throw badField('log_id', 'names a dataset of the system')
  const { origin, secrets } = request.origin.kind === 'S3' ? splitBucket(request.origin) : { origin: request.origin, secrets: undefined }
  const row: RehydrationRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    log_id,
    origin,
    secrets: null,
    from_ts,
    to_ts,
    filter: filter.trim() === '' ? null : filter,
    status: 'CREATED',
    is_listed: false,
    failure_detail: null,
    ended_at: null,
    ...createdBy(actor, world.clock.nowMs()),
  }
  const reply = rehydrationReply(row, undefined)
  await world.meta.write(actor.orgId, async (tx) => {
    if (secrets) row.secrets = await sealSecrets(world, tx, row, secrets, REHYDRATION_TABLE)
    if ((await insertRehydration(tx, row)) === 0) throw conflict('another rehydration into the dataset is under way')
    await enqueue(world, tx, { kind: REHYDRATION, orgId: actor.orgId, key: row.id, payload: { id: row.id, org_number: actor.orgNumber } })
    await recordChange(world, tx, actor, { entity: { type: 'rehydration', id: row.id }, after: reply })
  })
  return reply
}

/** The secrets of the bucket that a rehydration reads. */
export const openRehydrationSecrets = async (world: Pick<World, 'vault' | 'meta'>, row: RehydrationRow) =>
  row.secrets === null ? {} : openOriginSecrets(world, world.meta, { ...row, secrets: row.secrets }, REHYDRATION_TABLE)

/** The job ends it when the batch that is being stored has ended. */
export async function cancel(world: World, actor: Actor, before: RehydrationRow): Promise<Rehydration> {
  const after: RehydrationRow = { ...before, status: 'CANCELLING', ...modifiedBy(actor, world.clock.nowMs()) }
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await cancelRehydration(tx, after)) === 0) throw conflict('the rehydration has ended already')
    const [was, is] = [rehydrationReply(before, undefined), rehydrationReply(after, undefined)]
    await recordChange(world, tx, actor, { entity: { type: 'rehydration', id: after.id }, before: was, after: is })
  })
  return showRehydration(world, after)
}

async function replies({ meta }: MetaReader, rows: readonly RehydrationRow[]): Promise<Rehydration[]> {
  const sums = new Map(
    (
      await selectSums(
        meta,
        rows.map(({ id }) => id),
      )
    ).map((one) => [one.rehydration_id, one]),
  )
  return rows.map((row) => rehydrationReply(row, sums.get(row.id)))
}

const rehydrationReply = (row: RehydrationRow, sums: RehydrationSums | undefined): Rehydration => ({
  id: row.id,
  log_id: row.log_id,
  origin: row.origin,
  ...(row.from_ts === null ? {} : { from_ts: row.from_ts }),
  ...(row.to_ts === null ? {} : { to_ts: row.to_ts }),
  ...(row.filter === null ? {} : { filter: row.filter }),
  status: row.status,
  files: sums?.files ?? 0,
  ended_files: sums?.ended_files ?? 0,
  refused_files: sums?.refused_files ?? 0,
  bytes: sums?.bytes ?? 0,
  ended_bytes: sums?.ended_bytes ?? 0,
  read_events: sums?.read_events ?? 0,
  stored_events: sums?.stored_events ?? 0,
  earlier_events: sums?.earlier_events ?? 0,
  unselected_events: sums?.unselected_events ?? 0,
  refused_events: sums?.refused_events ?? 0,
  ...(row.failure_detail === null ? {} : { failure_detail: row.failure_detail }),
  ...(row.ended_at === null ? {} : { ended_at: row.ended_at }),
  metadata: metadataOf(row),
})
