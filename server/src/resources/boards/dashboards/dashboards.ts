import {
  type Dashboard,
  type DashboardChange,
  DashboardDraft,
  type DashboardLayout,
  type DashboardRequest,
  type Template,
} from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, badRequest, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import {
  detachMetricDefinitions,
  type MetricDefinitionRow,
  removeUnusedMetricDefinitions,
} from '../../queries/metric-definitions/metric-definitions.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import {
  allWidgets,
  checkWidgetIds,
  detachWidgets,
  discardWidget,
  type HiddenRecords,
  hiddenFrom,
  insertTemplateRows,
  leftAlone,
  lockedWidgets,
  type WidgetRow,
} from '../widgets/widgets.ts'
import { audited, byId, seenDashboards, shownDashboard } from './listing.ts'
import { dashboardRowsOf, planDashboard } from './made.ts'
import { type DashboardRow, deleteDashboard, insertDashboard, selectDashboards, updateDashboardRow } from './rows.ts'

export { dashboardPage, seenDashboards } from './listing.ts'
export { dashboardsOfLog } from './of-log.ts'
export type { DashboardRow }

const ENTITY = 'dashboard'
const WIDGETS_MAX = 200

export async function findDashboard(world: MetaWorld, actor: Actor, id: string): Promise<DashboardRow> {
  const row = (await seenDashboards(world, actor)).find((candidate) => candidate.id === id.toLowerCase())
  if (!row) throw notFound('dashboard', id)
  return row
}

export const showDashboard = async (world: MetaWorld, row: DashboardRow): Promise<Dashboard> =>
  shownDashboard(row, byId(await allWidgets(world, row.org_id)))

export async function createDashboard(world: World, actor: Actor, request: DashboardRequest): Promise<Dashboard> {
  const id = world.ids.uuid()
  const { draft, template, made } = await resolveDraft(world, actor, request, id)
  const nowMs = world.clock.nowMs()
  const row: DashboardRow = {
    org_id: actor.orgId,
    id,
    name: draft.name,
    description: draft.description ?? null,
    widget_ids: [...new Set([...made.top, ...(draft.widget_ids ?? [])])],
    layout: draft.layout ?? {},
    tags: draft.tags ?? {},
    template,
    ...createdBy(actor, nowMs),
  }
  const unseen = await hiddenFrom(world, actor)
  return world.meta.write(actor.orgId, async (tx) => {
    await lockedWidgets(tx, actor.orgId)
    return storeDashboard(world, tx, actor, row, made, (widgets) =>
      checkWidgetsExist(draft.widget_ids ?? [], { widgets, unseen }, 'widget_ids'),
    )
  })
}

/** Inserts a dashboard and the records created with it, in a transaction that has locked the widgets. */
export async function storeDashboard(
  world: World,
  tx: Db,
  actor: Actor,
  row: DashboardRow,
  made: Pick<TemplateRows, 'widgets' | 'metrics'>,
  check?: (widgets: readonly WidgetRow[]) => void,
): Promise<Dashboard> {
  await insertTemplateRows(world, tx, actor, made)
  const widgets = await lockedWidgets(tx, actor.orgId)
  check?.(widgets)
  checkWidgetCount(row.widget_ids)
  await insertDashboard(tx, row)
  await recordChange(world, tx, actor, { entity: { type: ENTITY, id: row.id }, after: audited(row) })
  return shownDashboard(row, byId(widgets))
}

/** Updates the given fields; widgets are set first, then appended, then removed. */
export async function changeDashboard(world: World, actor: Actor, record: DashboardRow, change: DashboardChange): Promise<Dashboard> {
  const { name, description, layout, widget_ids, append_widget_ids: appended, remove_widget_ids: removed, tags } = change
  if (Object.values(change).every((value) => value === undefined)) {
    throw badRequest('the body must have one of name, description, layout, widget_ids, append_widget_ids, remove_widget_ids, tags')
  }
  const unseen = await hiddenFrom(world, actor)
  return updateLocked(world, actor, record.id, async (before, widgets) => {
    checkWidgetsExist(widget_ids ?? [], { widgets, unseen }, 'widget_ids')
    checkWidgetsExist(appended ?? [], { widgets, unseen }, 'append_widget_ids')
    const ids = [...new Set([...(widget_ids ?? before.widget_ids), ...(appended ?? [])])]
    const unknown = removed?.find((id) => !ids.includes(id))
    if (unknown !== undefined) throw badField('remove_widget_ids', `names no widget of the dashboard: ${unknown}`, 'UNKNOWN_WIDGET')
    const left = ids.filter((id) => !removed?.includes(id))
    const gone = before.widget_ids.filter((id) => !left.includes(id))
    return {
      ...before,
      name: name ?? before.name,
      description: description ?? before.description,
      widget_ids: left,
      tags: tags ?? before.tags,
      layout: layout ? { ...before.layout, ...definedOf(layout) } : withoutLayouts(before.layout, gone),
    }
  })
}

/** Appends widgets; existing ones keep their position. */
export async function addToDashboard(world: World, actor: Actor, record: DashboardRow, ids: readonly string[]): Promise<undefined> {
  const unseen = await hiddenFrom(world, actor)
  await updateLocked(world, actor, record.id, async (before, _, tx) => {
    await checkWidgetIds(tx, actor.orgId, ids, unseen)
    return { ...before, widget_ids: [...new Set([...before.widget_ids, ...ids])] }
  })
}

export async function takeFromDashboard(world: World, actor: Actor, record: DashboardRow, widgetId: string): Promise<undefined> {
  await updateLocked(world, actor, record.id, async (before) => {
    if (!before.widget_ids.includes(widgetId)) throw notFound('widget', widgetId)
    return { ...before, widget_ids: before.widget_ids.filter((id) => id !== widgetId), layout: withoutLayouts(before.layout, [widgetId]) }
  })
}

/** Detaches a dashboard from its template, with the widgets and metrics created for it. */
export async function detachDashboard(world: World, actor: Actor, record: DashboardRow): Promise<Dashboard> {
  return updateLocked(world, actor, record.id, async (before, _, tx) => {
    if (before.template === null) throw badRequest('the dashboard is not linked to a template')
    await detachWidgets(world, tx, actor, before.id)
    await detachMetricDefinitions(world, tx, actor, before.id)
    return { ...before, template: null }
  })
}

/** Deletes a dashboard with the widgets and metrics created for it that nothing else uses. */
export async function removeDashboard(world: World, actor: Actor, record: DashboardRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const widgets = await lockedWidgets(tx, actor.orgId)
    const all = await selectDashboards(tx, actor.orgId)
    const row = all.find(({ id }) => id === record.id)
    if (!row) throw notFound('dashboard', record.id)
    const others = all.filter(({ id }) => id !== row.id).map(({ widget_ids }) => widget_ids)
    await deleteDashboard(tx, actor.orgId, row.id)
    for (const id of leftAlone(row.widget_ids, others, widgets)) {
      if (widgets.some((widget) => widget.id === id)) await discardWidget(world, tx, actor, id)
    }
    await removeUnusedMetricDefinitions(world, tx, actor, row.id)
    await recordChange(world, tx, actor, { entity: { type: ENTITY, id: row.id }, before: audited(row) })
  })
}

type TemplateRows = { top: readonly string[]; widgets: readonly WidgetRow[]; metrics: readonly MetricDefinitionRow[] }

/** Merges the draft with its template, and returns the rows to create with it. */
async function resolveDraft(
  world: World,
  actor: Actor,
  { template, ...said }: DashboardRequest,
  id: string,
): Promise<{ draft: DashboardDraft; template: Template | null; made: TemplateRows }> {
  if (!template) return { draft: check(DashboardDraft, said, 'body'), template: null, made: { top: [], widgets: [], metrics: [] } }
  const plan = await planDashboard(world, actor, { ...template, field: 'template' })
  const made = await dashboardRowsOf(world, actor, plan, id)
  const given = definedOf(said)
  return { draft: check(DashboardDraft, { ...plan.draft, layout: made.layout, ...given }, 'template'), template: plan.template, made }
}

type DashboardUpdate = (before: DashboardRow, widgets: readonly WidgetRow[], tx: Db) => Promise<DashboardRow>

/** Updates one dashboard while all widget relations are locked. */
async function updateLocked(world: World, actor: Actor, id: string, decide: DashboardUpdate): Promise<Dashboard> {
  return world.meta.write(actor.orgId, async (tx) => {
    const widgets = await lockedWidgets(tx, actor.orgId)
    const before = (await selectDashboards(tx, actor.orgId)).find((candidate) => candidate.id === id)
    if (!before) throw notFound('dashboard', id)
    const next = { ...(await decide(before, widgets, tx)), ...modifiedBy(actor, world.clock.nowMs()) }
    checkWidgetCount(next.widget_ids)
    await updateDashboardRow(tx, next)
    await recordChange(world, tx, actor, { entity: { type: ENTITY, id }, before: audited(before), after: audited(next) })
    return shownDashboard(next, byId(await lockedWidgets(tx, actor.orgId)))
  })
}

type VisibleWidgets = { widgets: readonly WidgetRow[]; unseen: HiddenRecords }

function checkWidgetsExist(ids: readonly string[], { widgets, unseen }: VisibleWidgets, field: string): void {
  const unknown = ids.find((id) => unseen.widgets.has(id) || !widgets.some((widget) => widget.id === id))
  if (unknown !== undefined) throw badField(field, `names no widget: ${unknown}`, 'UNKNOWN_WIDGET')
}

function checkWidgetCount(ids: readonly string[]): void {
  if (ids.length > WIDGETS_MAX) throw badField('widget_ids', `would exceed the ${WIDGETS_MAX} widgets that a dashboard can hold`)
}

const definedOf = <T extends object>(record: T): Partial<T> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>

function withoutLayouts(layout: DashboardLayout, ids: readonly string[]): DashboardLayout {
  if (!layout.widget_layouts || ids.length === 0) return layout
  return { ...layout, widget_layouts: layout.widget_layouts.filter(({ id }) => !ids.includes(id)) }
}
