import { type BodyOf, type contract, type Monitor, MonitorDraft, type Template } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { checkMonitorLimit } from '../../data/limits/limits.ts'
import { dropBacking, keepBacking } from '../../queries/metric-definitions/metric-definitions.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import { newState } from '../alert-states/alert-states.ts'
import { checkActions } from '../integrations/integrations.ts'
import { columnsFromDraft, type MonitorRow } from '../monitor-definitions/monitor-definitions.ts'
import { monitorReads, visibleMonitors } from './listing.ts'
import { monitorReply } from './monitor-reply.ts'
import {
  deleteMonitor,
  insertMonitor,
  insertState,
  lockMonitor,
  makeAllDueNow,
  makeDueNow,
  removeFromDowntimes,
  selectMonitor,
  selectState,
  updateMonitorRow,
} from './rows.ts'
import { draftFromTemplate } from './templates.ts'

export { allMonitors, listMonitors, monitorPage, monitorReads, visibleMonitors } from './listing.ts'

type NewMonitor = BodyOf<typeof contract.monitors.create>

const FOR_EVER = -1

export async function findMonitor(world: MetaWorld, actor: Actor, id: string): Promise<MonitorRow> {
  const row = (await visibleMonitors(world, actor, () => monitorReads(world, actor.orgId))).find((candidate) => candidate.id === id)
  if (!row) throw notFound('monitor', id)
  return row
}

export async function showMonitor(world: Pick<World, 'meta' | 'clock'>, row: MonitorRow): Promise<Monitor> {
  return monitorReply(row, await selectState(world.meta, row.org_id, row.id), world.clock.nowMs())
}

/** The first evaluation follows within a second. */
export async function createMonitor(world: World, actor: Actor, request: NewMonitor): Promise<Monitor> {
  const row = await newMonitor(world, actor, request)
  return world.meta.write(actor.orgId, (tx) => storeMonitor(world, tx, actor, row))
}

/** Validates a new monitor. */
export async function newMonitor(world: World, actor: Actor, request: NewMonitor): Promise<MonitorRow> {
  const nowMs = world.clock.nowMs()
  const { draft, template } = await resolveDraft(world, actor, request)
  const members = columnsFromDraft(draft)
  return {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...members,
    queries: members.queries.map((query) => ({ ...query, id: world.ids.uuid() })),
    muted_until: mutedUntil(request.mute_until ?? 0, nowMs),
    metric_id: world.ids.uuid(),
    template,
    tags: request.tags,
    author: actor.identity,
    author_roles: actor.roles,
    ...createdBy(actor, nowMs),
  }
}

/** Inserts a monitor in the transaction of the records that are created with it. */
export async function storeMonitor(world: World, tx: Db, actor: Actor, row: MonitorRow): Promise<Monitor> {
  const nowMs = world.clock.nowMs()
  await checkMonitorLimit(world, tx, actor.orgId)
  await checkActions(tx, actor.orgId, row.actions)
  await keepBacking(tx, metricOf(row))
  await insertMonitor(tx, row)
  const state = { org_id: row.org_id, monitor_id: row.id, status: newState.status, state: newState, due_at: nowMs }
  await insertState(tx, state)
  const shown = monitorReply(row, undefined, nowMs)
  await recordChange(world, tx, actor, { entity: { type: 'monitor', id: row.id }, after: shown })
  return shown
}

/** Merges the request with its template. */
async function resolveDraft(world: World, actor: Actor, request: NewMonitor): Promise<{ draft: MonitorDraft; template: Template | null }> {
  const { template, mute_until: _, tags: __, ...fields } = request
  if (!template) return { draft: check(MonitorDraft, fields, 'body'), template: null }
  return draftFromTemplate(world, actor, template, fields)
}

/** Replaces the definition. Mute, status and history stay, and the monitor is evaluated at once. */
export async function updateMonitor(world: World, actor: Actor, id: string, draft: MonitorDraft): Promise<Monitor> {
  const members = columnsFromDraft(draft)
  return changed(world, actor, id, { isNew: true }, async (tx, before, nowMs) => {
    await checkActions(tx, actor.orgId, members.actions)
    const queries = members.queries.map((query) => ({ ...query, id: query.id ?? world.ids.uuid() }))
    const by = { author: actor.identity, author_roles: actor.roles }
    const next: MonitorRow = { ...before, ...members, queries, ...by, ...modifiedBy(actor, nowMs) }
    await updateMonitorRow(tx, next)
    await keepBacking(tx, metricOf(next))
    return next
  })
}

/** Mutes until a future time; -1 mutes forever, 0 unmutes. */
export async function muteMonitor(world: World, actor: Actor, id: string, untilMs: number): Promise<Monitor> {
  return changed(world, actor, id, { isNew: false }, async (tx, before, nowMs) => {
    const next = { ...before, muted_until: mutedUntil(untilMs, nowMs), ...modifiedBy(actor, nowMs) }
    await updateMonitorRow(tx, next)
    return next
  })
}

function mutedUntil(untilMs: number, nowMs: number): number | null {
  if (untilMs === 0) return null
  if (untilMs !== FOR_EVER && untilMs <= nowMs) throw badField('mute_until', 'must be -1, 0 or a future time', 'OUT_OF_RANGE')
  return untilMs
}

async function changed(
  world: World,
  actor: Actor,
  id: string,
  { isNew }: { isNew: boolean },
  change: (tx: Db, before: MonitorRow, nowMs: number) => Promise<MonitorRow>,
): Promise<Monitor> {
  return world.meta.write(actor.orgId, async (tx) => {
    await lockMonitor(tx, actor.orgId, id)
    const before = await selectMonitor(tx, actor.orgId, id)
    if (!before) throw notFound('monitor', id)
    const nowMs = world.clock.nowMs()
    const next = await change(tx, before, nowMs)
    await makeDueNow(tx, actor.orgId, id, { nowMs, isNew })
    const state = await selectState(tx, actor.orgId, id)
    const [was, is] = [monitorReply(before, state, nowMs), monitorReply(next, state, nowMs)]
    await recordChange(world, tx, actor, { entity: { type: 'monitor', id }, before: was, after: is })
    return is
  })
}

export async function removeMonitor(world: World, actor: Actor, record: MonitorRow): Promise<undefined> {
  const nowMs = world.clock.nowMs()
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteMonitor(tx, actor.orgId, record.id)) === 0) throw notFound('monitor', record.id)
    await dropBacking(tx, actor.orgId, record.metric_id)
    await removeFromDowntimes(tx, actor.orgId, record.id)
    const before = monitorReply(record, undefined, nowMs)
    await recordChange(world, tx, actor, { entity: { type: 'monitor', id: record.id }, before })
  })
}

/** Makes all monitors of an organization due, after a change of the downtimes. */
export async function evaluateAllSoon(tx: Db, orgId: string, nowMs: number): Promise<void> {
  await makeAllDueNow(tx, orgId, nowMs)
}

const metricOf = (row: MonitorRow) => ({
  org_id: row.org_id,
  id: row.metric_id,
  name: row.name,
  description: row.description?.slice(0, 1_000) ?? null,
  queries: row.queries,
  formulas: row.formulas,
  template: null,
  created_at: row.modified_at,
  created_by: row.modified_by,
  modified_at: row.modified_at,
  modified_by: row.modified_by,
})
