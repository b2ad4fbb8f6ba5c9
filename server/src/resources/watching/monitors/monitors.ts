import { type BodyOf, type contract, type Monitor, MonitorDraft, type Template } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { isSame, visibilityFor } from '../../data/datasets/datasets.ts'
import { mustLetMonitorIn } from '../../data/limits/limits.ts'
import { dropBacking, keepBacking } from '../../queries/metric-definitions/metric-definitions.ts'
import { checkActions } from '../integrations/integrations.ts'
import { membersOf } from './definition.ts'
import {
  bringForward,
  deleteMonitor,
  insertMonitor,
  insertState,
  lockMonitor,
  lookAgain,
  type MonitorRow,
  removeFromDowntimes,
  type StateRow,
  selectMonitor,
  selectMonitors,
  selectState,
  selectStates,
  updateMonitorRow,
} from './rows.ts'
import { shownMonitor } from './shown-monitor.ts'
import { draftFromTemplate } from './templates.ts'
import { newState } from './transition.ts'

export { decide, type Look, undecided, type Verdict } from './decide.ts'
export { type Definition, definitionOf, type Members, membersOf } from './definition.ts'
export { isDowntime } from './downtime.ts'
export type { EvaluationRecord } from './history-rows.ts'
export { INTERVAL_MS } from './interval.ts'
export { isAddedUp, type Reading, type Series, type Sight, seriesFor, sightOf } from './observation.ts'
export type { Occasion } from './occasion.ts'
export { sightsOver, stepOf } from './past-observations.ts'
export { readSeries, sourcesOf, watcherFor } from './reading-series.ts'
export type { MonitorRow, StateRow } from './rows.ts'
export type { Change, Operator, Status } from './status.ts'
export { isSoundState } from './stored-state.ts'
export type { Quiet } from './transition.ts'

type Reader = Pick<World, 'meta'>
type NewMonitor = BodyOf<typeof contract.monitors.create>

const FOR_EVER = -1

/** allMonitors is every monitor of an organisation, newest first; what changes with their looks is not in it. */
export const allMonitors = (world: Reader, orgId: string): Promise<readonly MonitorRow[]> =>
  world.meta.cached(orgId, 'monitors', () => selectMonitors(world.meta, orgId))

export async function listMonitors(world: Pick<World, 'meta' | 'clock'>, actor: Actor, log?: DatasetRow | string): Promise<Monitor[]> {
  const states = new Map((await selectStates(world.meta, actor.orgId)).map((state) => [state.monitor_id, state]))
  const rows = await seenMonitors(world, actor, async () => states)
  const chosen = log === undefined ? rows : rows.filter((row) => readsLog(row, log))
  const nowMs = world.clock.nowMs()
  return chosen.map((row) => shownMonitor(row, states.get(row.id), nowMs))
}

/** readsLog tells whether a query of a monitor reads a log: by its id, or by a selector that finds it. */
function readsLog({ queries }: MonitorRow, log: DatasetRow | string): boolean {
  const id = typeof log === 'string' ? log : log.id
  return queries.some((query) => {
    if (!query.from_expr?.trim()) return query.from?.includes(id) ?? false
    return typeof log !== 'string' && matchDatasets(parseSelector(query.from_expr), [log]).length > 0
  })
}

/**
 * seenMonitors are those that refer to no dataset hidden from the caller, and have found nothing in one: what a monitor found before somebody changed
 * what it watches, or before a policy was made, still stands in its records.
 */
export async function seenMonitors(
  world: Reader,
  actor: Actor,
  statesOf: () => Promise<ReadonlyMap<string, Pick<StateRow, 'reads'>>>,
): Promise<readonly MonitorRow[]> {
  const all = await allMonitors(world, actor.orgId)
  const visibility = await visibilityFor(world, actor)
  if (!visibility.limited) return all
  const states = await statesOf()
  const kept: MonitorRow[] = []
  for (const row of all) {
    const reads = states.get(row.id)?.reads ?? []
    const isOwn = isSame(actor.identity, row.author)
    const foundNothingHidden = isOwn ? !reads.some(visibility.hides) : visibility.seesEach(reads)
    if (foundNothingHidden && (await visibility.sees(row.queries, row.author))) kept.push(row)
  }
  return kept
}

/** readsOf are the datasets in which monitors have found what their records say. */
export const readsOf = async (world: Reader, orgId: string): Promise<ReadonlyMap<string, Pick<StateRow, 'reads'>>> =>
  new Map((await selectStates(world.meta, orgId)).map((state) => [state.monitor_id, state]))

export async function findMonitor(world: Reader, actor: Actor, id: string): Promise<MonitorRow> {
  const row = (await seenMonitors(world, actor, () => readsOf(world, actor.orgId))).find((candidate) => candidate.id === id)
  if (!row) throw notFound('monitor', id)
  return row
}

export async function showMonitor(world: Pick<World, 'meta' | 'clock'>, row: MonitorRow): Promise<Monitor> {
  return shownMonitor(row, await selectState(world.meta, row.org_id, row.id), world.clock.nowMs())
}

/** createMonitor makes a monitor that looks for the first time within a second. */
export async function createMonitor(world: World, actor: Actor, ask: NewMonitor): Promise<Monitor> {
  const nowMs = world.clock.nowMs()
  const { draft, template } = await wholeOf(world, actor, ask)
  const members = membersOf(draft)
  const row: MonitorRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    ...members,
    queries: members.queries.map((query) => ({ ...query, id: world.ids.uuid() })),
    muted_until: mutedUntil(ask.mute_until ?? 0, nowMs),
    metric_id: world.ids.uuid(),
    template,
    tags: ask.tags,
    author: actor.identity,
    author_roles: actor.roles,
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  return world.meta.write(actor.orgId, async (tx) => {
    await mustLetMonitorIn(world, tx, actor.orgId)
    await checkActions(tx, actor.orgId, row.actions)
    await keepBacking(tx, metricOf(row))
    await insertMonitor(tx, row)
    const state = { org_id: row.org_id, monitor_id: row.id, status: newState.status, state: newState, due_at: nowMs }
    await insertState(tx, state)
    const shown = shownMonitor(row, undefined, nowMs)
    await recordChange(world, tx, actor, { entity: { type: 'monitor', id: row.id }, after: shown })
    return shown
  })
}

/** wholeOf is what a request says together with what its template gives. */
async function wholeOf(world: World, actor: Actor, ask: NewMonitor): Promise<{ draft: MonitorDraft; template: Template | null }> {
  const { template, mute_until: _, tags: __, ...said } = ask
  if (!template) return { draft: check(MonitorDraft, said, 'body'), template: null }
  return draftFromTemplate(world, actor, template, said)
}

/** updateMonitor replaces what is watched; mute, status and history stay, and the monitor looks again at once. */
export async function updateMonitor(world: World, actor: Actor, id: string, draft: MonitorDraft): Promise<Monitor> {
  const members = membersOf(draft)
  return changed(world, actor, id, { isNew: true }, async (tx, before, nowMs) => {
    await checkActions(tx, actor.orgId, members.actions)
    const queries = members.queries.map((query) => ({ ...query, id: query.id ?? world.ids.uuid() }))
    const by = { author: actor.identity, author_roles: actor.roles }
    const next: MonitorRow = { ...before, ...members, queries, ...by, modified_at: nowMs, modified_by: actor.identity }
    await updateMonitorRow(tx, next)
    await keepBacking(tx, metricOf(next))
    return next
  })
}

/** muteMonitor mutes until a time to come, for ever with -1, and not at all with 0. */
export async function muteMonitor(world: World, actor: Actor, id: string, untilMs: number): Promise<Monitor> {
  return changed(world, actor, id, { isNew: false }, async (tx, before, nowMs) => {
    const next = { ...before, muted_until: mutedUntil(untilMs, nowMs), modified_at: nowMs, modified_by: actor.identity }
    await updateMonitorRow(tx, next)
    return next
  })
}

function mutedUntil(untilMs: number, nowMs: number): number | null {
  if (untilMs === 0) return null
  if (untilMs !== FOR_EVER && untilMs <= nowMs) throw badField('mute_until', 'must be -1, 0 or a time to come', 'OUT_OF_RANGE')
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
    await lookAgain(tx, actor.orgId, id, { nowMs, isNew })
    const state = await selectState(tx, actor.orgId, id)
    const [was, is] = [shownMonitor(before, state, nowMs), shownMonitor(next, state, nowMs)]
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
    const before = shownMonitor(record, undefined, nowMs)
    await recordChange(world, tx, actor, { entity: { type: 'monitor', id: record.id }, before })
  })
}

/** lookSoon makes all monitors of an organisation look at once, after what keeps them quiet has changed. */
export async function lookSoon(tx: Db, orgId: string, nowMs: number): Promise<void> {
  await bringForward(tx, orgId, nowMs)
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
