import type { BodyOf, contract, Downtime } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { visibilityFor } from '../../data/datasets/datasets.ts'
import { allMonitors, evaluateAllSoon, monitorReads, visibleMonitors } from '../monitors/monitors.ts'
import {
  type DowntimeRow,
  deleteDowntime,
  insertDowntime,
  lockDowntime,
  selectDowntime,
  selectDowntimes,
  updateDowntimeRow,
} from './rows.ts'

type NewDowntime = BodyOf<typeof contract.downtimes.create>
type Reader = Pick<World, 'meta'>

/** All downtimes of an organization; the caller checks visibility. */
export const allDowntimes = (world: Reader, orgId: string): Promise<Downtime[]> =>
  world.meta.cached(orgId, 'downtimes', async () => (await selectDowntimes(world.meta, orgId)).map(downtimeReply))

export async function listDowntimes(world: Reader, actor: Actor): Promise<Downtime[]> {
  const all = await allDowntimes(world, actor.orgId)
  const isSeen = await visibilityCheck(world, actor)
  return isSeen ? all.filter(({ from }) => isSeen(from)) : all
}

export async function findDowntime(world: Reader, actor: Actor, id: string): Promise<DowntimeRow> {
  const row = await selectDowntime(world.meta, actor.orgId, id)
  const isSeen = row && (await visibilityCheck(world, actor))
  if (!row || (isSeen && !isSeen(row.covers))) throw notFound('downtime', id)
  return row
}

/**
 * Returns a check whether the caller may see a downtime: it must cover no log and no monitor that is hidden from them. Undefined if the
 * caller sees everything.
 */
async function visibilityCheck(world: Reader, actor: Actor): Promise<((covers: readonly string[]) => boolean) | undefined> {
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
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  await world.meta.write(actor.orgId, async (tx) => {
    await insertDowntime(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'downtime', id: row.id }, after: downtimeReply(row) })
  })
  return downtimeReply(row)
}

export async function updateDowntime(world: World, actor: Actor, record: DowntimeRow, request: NewDowntime): Promise<Downtime> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockDowntime(tx, actor.orgId, record.id)
    if (!before) throw notFound('downtime', record.id)
    const next: DowntimeRow = { ...before, ...columnsOf(request), modified_at: world.clock.nowMs(), modified_by: actor.identity }
    await updateDowntimeRow(tx, next)
    await evaluateAllSoon(tx, actor.orgId, next.modified_at)
    const change = { entity: { type: 'downtime', id: record.id } as const, before: downtimeReply(before), after: downtimeReply(next) }
    await recordChange(world, tx, actor, change)
    return downtimeReply(next)
  })
}

export async function removeDowntime(world: World, actor: Actor, record: DowntimeRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteDowntime(tx, actor.orgId, record.id)) === 0) throw notFound('downtime', record.id)
    // The next evaluation sends what the downtime held back.
    await evaluateAllSoon(tx, actor.orgId, world.clock.nowMs())
    await recordChange(world, tx, actor, { entity: { type: 'downtime', id: record.id }, before: downtimeReply(record) })
  })
}

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
