import type { BodyOf, contract, Downtime } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { visibilityFor } from '../../data/datasets/datasets.ts'
import { allMonitors, lookSoon, readsOf, seenMonitors } from '../monitors/monitors.ts'
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

/** allDowntimes are those of an organisation, for whoever decides himself what of them may be seen. */
export const allDowntimes = (world: Reader, orgId: string): Promise<Downtime[]> =>
  world.meta.cached(orgId, 'downtimes', async () => (await selectDowntimes(world.meta, orgId)).map(shownDowntime))

export async function listDowntimes(world: Reader, actor: Actor): Promise<Downtime[]> {
  const all = await allDowntimes(world, actor.orgId)
  const isSeen = await seenBy(world, actor)
  return isSeen ? all.filter(({ from }) => isSeen(from)) : all
}

export async function findDowntime(world: Reader, actor: Actor, id: string): Promise<DowntimeRow> {
  const row = await selectDowntime(world.meta, actor.orgId, id)
  const isSeen = row && (await seenBy(world, actor))
  if (!row || (isSeen && !isSeen(row.covers))) throw notFound('downtime', id)
  return row
}

/** seenBy tells of a downtime by what it covers whether the caller may see it: no log and no monitor that is hidden from him. Undefined for those who see all. */
async function seenBy(world: Reader, actor: Actor): Promise<((covers: readonly string[]) => boolean) | undefined> {
  const visibility = await visibilityFor(world, actor)
  if (!visibility.limited) return undefined
  // All of them first: a monitor that is made meanwhile is not taken for a hidden one.
  const all = await allMonitors(world, actor.orgId)
  const shown = new Set((await seenMonitors(world, actor, () => readsOf(world, actor.orgId))).map(({ id }) => id))
  const hidden = new Set(all.map(({ id }) => id).filter((id) => !shown.has(id)))
  return (covers) => !covers.some((id) => visibility.hides(id) || hidden.has(id))
}

export async function createDowntime(world: World, actor: Actor, ask: NewDowntime): Promise<Downtime> {
  const nowMs = world.clock.nowMs()
  const row: DowntimeRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...given(ask),
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  await world.meta.write(actor.orgId, async (tx) => {
    await insertDowntime(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'downtime', id: row.id }, after: shownDowntime(row) })
  })
  return shownDowntime(row)
}

export async function updateDowntime(world: World, actor: Actor, record: DowntimeRow, ask: NewDowntime): Promise<Downtime> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockDowntime(tx, actor.orgId, record.id)
    if (!before) throw notFound('downtime', record.id)
    const next: DowntimeRow = { ...before, ...given(ask), modified_at: world.clock.nowMs(), modified_by: actor.identity }
    await updateDowntimeRow(tx, next)
    await lookSoon(tx, actor.orgId, next.modified_at)
    const change = { entity: { type: 'downtime', id: record.id } as const, before: shownDowntime(before), after: shownDowntime(next) }
    await recordChange(world, tx, actor, change)
    return shownDowntime(next)
  })
}

export async function removeDowntime(world: World, actor: Actor, record: DowntimeRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteDowntime(tx, actor.orgId, record.id)) === 0) throw notFound('downtime', record.id)
    // What the downtime held back is told by the next look.
    await lookSoon(tx, actor.orgId, world.clock.nowMs())
    await recordChange(world, tx, actor, { entity: { type: 'downtime', id: record.id }, before: shownDowntime(record) })
  })
}

const given = (ask: NewDowntime) => ({
  name: ask.name,
  description: ask.description,
  covers: [...new Set(ask.from)],
  suppress_recovery_alert: ask.suppress_recovery_alert,
  alert_strategy: ask.alert_strategy,
  static_time_range: ask.static_time_range ?? null,
  dynamic_time_range: ask.dynamic_time_range ?? null,
})

export const shownDowntime = (row: DowntimeRow): Downtime => ({
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
