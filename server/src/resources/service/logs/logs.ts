import type { BodyOf, contract, Log, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { type SerializedJson, serializeOnce } from '../../../http/serialized-json.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import {
  createDataset,
  type DatasetList,
  type DatasetRow,
  type LatestArrivals,
  shownDataset,
  updateDataset,
  visibleDatasets,
  withArrivals,
} from '../../data/datasets/datasets.ts'

type NewLog = BodyOf<typeof contract.logs.create>
type LogChange = BodyOf<typeof contract.logs.update>

/** A log is a dataset under its older name: the same record with both pairs of names. */
export async function listLogs(world: Pick<World, 'meta'>, actor: Actor): Promise<SerializedJson<ReplyOf<typeof contract.logs.list>>> {
  return serializedList(await withArrivals(world, actor.orgId, await visibleDatasets(world, actor)))
}

const serializedList = serializeOnce(({ rows, arrivals }: DatasetList) => ({ logs: rows.map((row) => shownLog(row, arrivals)) }))

export async function createLog(world: World, actor: Actor, request: NewLog): Promise<Log> {
  const { collection, dataset } = namesOf(request)
  if (collection === undefined) throw badField('collection', 'is required', 'INVALID_TYPE')
  if (dataset === undefined) throw badField('dataset', 'is required', 'INVALID_TYPE')
  return shownLog(await createDataset(world, actor, { ...request, collection, dataset }))
}

/** Moves and renames; a lone dataset name renames within the collection. */
export async function updateLog(world: World, actor: Actor, record: DatasetRow, change: LogChange): Promise<Log> {
  const names = namesOf(change)
  if (names.collection === undefined && names.dataset === undefined) throw badField('collection', 'is required', 'INVALID_TYPE')
  return shownLog(await updateDataset(world, actor, record.id, names))
}

/** Reads the names from either pair; if both are given they must agree. */
function namesOf(body: LogChange): { collection: string | undefined; dataset: string | undefined } {
  return { collection: oneName(body, 'collection', 'logset'), dataset: oneName(body, 'dataset', 'log') }
}

function oneName(body: LogChange, field: 'collection' | 'dataset', twin: 'logset' | 'log'): string | undefined {
  const name = body[field]
  const deprecated = body[twin]
  if (name !== undefined && deprecated !== undefined && name !== deprecated) {
    throw badField(twin, `must be absent or the same as ${field}`, 'CONFLICT')
  }
  return name ?? deprecated
}

export function shownLog(row: DatasetRow, arrivals?: LatestArrivals): Log {
  const { id, ...rest } = shownDataset(row, arrivals)
  return { log_id: id, ...rest, logset: row.collection, log: row.dataset }
}
