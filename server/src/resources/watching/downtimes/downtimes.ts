import type { BodyOf, contract, Downtime, QueryOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { visibilityFor } from '../../data/datasets/datasets.ts'
import { byName, type ListOrder, type NextPage, pageOf, searched, searchedText } from '../../list-pages.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { allMonitors, evaluateAllSoon, monitorReads, visibleMonitors } from '../monitors/monitors.ts'
import { DOWNTIME_ZONE, isDowntime } from './downtime-times.ts'
import {
  type DowntimeRow,
  deleteDowntime,
  insertDowntime,
  lockDowntime,
  selectDowntime,
  selectDowntimes,
  updateDowntimeRow,
} from './rows.ts'

export { DOWNTIME_ZONE, isDowntime } from './downtime-times.ts'

type DowntimeQuery = QueryOf<typeof contract.downtimes.list>
type NewDowntime = BodyOf<typeof contract.downtimes.create>

/** All downtimes of an organization; the caller checks visibility. */
export const allDowntimes = (world: MetaWorld, orgId: string): Promise<Downtime[]> =>
  world.meta.cached(orgId, 'downtimes', async () => (await selectDowntimes(world.meta, orgId)).map(downtimeReply))

export async function listDowntimes(world: World, actor: Actor, query: DowntimeQuery): Promise<NextPage & { downtimes: Downtime[] }> {
  const all = await allDowntimes(world, actor.orgId)
  const isSeen = await visibilityCheck(world, actor)
  const seen = isSeen ? all.filter(({ from }) => isSeen(from)) : all
  const { from_ts = 0, to_ts = Number.MAX_SAFE_INTEGER } = query
  const within = seen.filter(({ static_time_range: once }) => !once || (once.to > from_ts && once.from < to_ts))
  const found = searched(within, query.search, ({ name, description }) => searchedText([name, description]))
  const { rows, ...rest } = pageOf(found.map(placed), query, orderOf(query.sort, world.clock.nowMs()))
  return { downtimes: rows.map(({ downtime }) => downtime), ...rest }
}

type PlacedDowntime = { id: string; created_at: number; downtime: Downtime }
const placed = (downtime: Downtime): PlacedDowntime => ({ id: downtime.id, created_at: downtime.metadata.created_at ?? 0, downtime })

function orderOf(sort: DowntimeQuery['sort'], nowMs: number): ListOrder<PlacedDowntime> | undefined {
  if (sort === 'name') return byName(({ downtime }) => [downtime.name])
  if (sort !== 'phase') return undefined
  return { name: 'phase', keysOf: ({ downtime }) => [phaseAt(downtime, nowMs), downtime.name] }
}

/** 0 in progress, 1 planned, 2 recurring, 3 past. */
function phaseAt(downtime: Downtime, nowMs: number): number {
  const { static_time_range: once } = downtime
  if (isDowntime(downtime, nowMs, DOWNTIME_ZONE)) return 0
  if (!once) return 2
  return nowMs < once.from ? 1 : 3
}

export async function findDowntime(world: MetaWorld, actor: Actor, id: string): Promise<DowntimeRow> {
  const row = await selectDowntime(world.meta, actor.orgId, id)
  const isSeen = row && (await visibilityCheck(world, actor))
  if (!row || (isSeen && !isSeen(row.covers))) throw notFound('downtime', id)
  return row
}

/**
 * Returns a check whether the caller may see a downtime: it must cover no log and no monitor that is hidden from them. Undefined if the
 * caller sees everything.
 */
async function visibilityCheck(world: MetaWorld, actor: Actor): Promise<((covers: readonly string[]) => boolean) | undefined> {
  const visibility = await visibilityFor(world, actor)
  if (!visibility.limited) return undefined
  // Read all monitors first, so that one created meanwhile does not count as hidden.
  const all = await allMonitors(world, actor.orgId)
  const shown = new Set((await visibleMonitors(world, actor, () => monitorReads(world, actor.orgId))).map(({ id }) => id))
  const hidden = new Set(all.map(({ id }) => id).filter((id) => !shown.has(id)))
  return (covers) => !covers.some((id) => visibility.hides(id) || hidden.has(id))
}

export async function createDowntime(world: World, actor: Actor, request: NewDowntime): Promise<Downtime> {
  const nowMs = world.clock.nowMs()
  const row: DowntimeRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...columnsOf(request),
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, downtimeRecords, row)
}

export const updateDowntime = (world: World, actor: Actor, { id }: DowntimeRow, request: NewDowntime): Promise<Downtime> =>
  changeRecord(world, actor, downtimeRecords, {
    id,
    change: () => columnsOf(request),
    afterwards: (tx, next) => evaluateAllSoon(tx, actor.orgId, next.modified_at),
  })

export const removeDowntime = (world: World, actor: Actor, record: DowntimeRow): Promise<undefined> =>
  removeRecord(world, actor, downtimeRecords, record, {
    // The next evaluation sends what the downtime held back.
    afterwards: (tx) => evaluateAllSoon(tx, actor.orgId, world.clock.nowMs()),
  })

const columnsOf = (request: NewDowntime) => ({
  name: request.name,
  description: request.description,
  covers: [...new Set(request.from)],
  suppress_recovery_alert: request.suppress_recovery_alert,
  alert_strategy: request.alert_strategy,
  static_time_range: request.static_time_range ?? null,
  dynamic_time_range: request.dynamic_time_range ?? null,
})

export const downtimeReply = (row: DowntimeRow): Downtime => ({
  id: row.id,
  name: row.name,
  description: row.description,
  from: row.covers,
  suppress_recovery_alert: row.suppress_recovery_alert,
  alert_strategy: row.alert_strategy,
  ...(row.static_time_range === null ? {} : { static_time_range: row.static_time_range }),
  ...(row.dynamic_time_range === null ? {} : { dynamic_time_range: row.dynamic_time_range }),
  metadata: metadataOf(row),
})

const downtimeRecords: RecordKind<DowntimeRow, Downtime> = {
  noun: 'downtime',
  entity: 'downtime',
  lock: lockDowntime,
  insert: insertDowntime,
  update: updateDowntimeRow,
  remove: deleteDowntime,
  shown: downtimeReply,
}
