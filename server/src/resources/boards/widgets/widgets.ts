import {
  CHILDREN_MAX,
  type contract,
  type QueryOf,
  type Template,
  type Widget,
  type WidgetChange,
  WidgetDraft,
  type WidgetRequest,
} from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField, badRequest, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { byName, type NextPage, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import {
  hiddenMetricIds,
  type MetricDefinitionRow,
  metricUsers,
  missingMetricDefinitions,
  storeMetricDefinition,
} from '../../queries/metric-definitions/metric-definitions.ts'
import { isSameTemplate } from '../../queries/templates/templates.ts'
import { planWidget, rowsOf } from './made.ts'
import {
  deleteWidget,
  insertWidget,
  lockWidget,
  lockWidgets,
  lockWidgetsMadeFor,
  removeFromDashboards,
  removeFromWidgets,
  selectWidgets,
  updateWidgetRow,
  type WidgetRow,
} from './rows.ts'
import { type Container, within } from './tree.ts'

export {
  childrenByTemplate as childPlaces,
  fillLayout as placed,
  PLANNED_MAX,
  planWidget,
  rowsOf,
  type WidgetPlan,
  widgetTemplates,
} from './made.ts'

import { modifiedBy } from '../../records.ts'

export { leftAlone, within } from './tree.ts'

const ENTITY = 'widget'

export type { WidgetRow }

export const allWidgets = (world: MetaWorld, orgId: string): Promise<readonly WidgetRow[]> =>
  world.meta.cachedRows(orgId, 'widgets', {
    read: (changed) => selectWidgets(world.meta, orgId, changed),
    idsIn: { widgets: ({ id }) => id },
  })

/** The widgets that show, at any depth, no metric hidden from the caller. */
export async function seenWidgets(world: MetaWorld, actor: Actor): Promise<readonly WidgetRow[]> {
  const { widgets } = await hiddenFrom(world, actor)
  const rows = await allWidgets(world, actor.orgId)
  return widgets.size === 0 ? rows : rows.filter(({ id }) => !widgets.has(id))
}

/** The ids hidden from the caller, who gets a 404 for them. */
export type HiddenRecords = { readonly metrics: ReadonlySet<string>; readonly widgets: ReadonlySet<string> }

export async function hiddenFrom(world: MetaWorld, actor: Actor): Promise<HiddenRecords> {
  const metrics = await hiddenMetricIds(world, actor)
  if (metrics.size === 0) return { metrics, widgets: new Set() }
  const rows = await allWidgets(world, actor.orgId)
  const showing = new Set(rows.filter(({ metric_ids }) => metric_ids.some((id) => metrics.has(id))).map(({ id }) => id))
  return { metrics, widgets: within(showing, containersOf(rows)) }
}

/** Inverts the containment: each widget with the ids of its containers. */
const containersOf = (rows: readonly WidgetRow[]): readonly Container[] => {
  const pairs = rows.flatMap(({ id, widget_ids }) => widget_ids.map((child) => ({ child, id })))
  return [...Map.groupBy(pairs, ({ child }) => child)].map(([id, holders]) => ({ id, widget_ids: holders.map((pair) => pair.id) }))
}

export async function widgetPage(
  world: MetaWorld,
  actor: Actor,
  query: QueryOf<typeof contract.widgets.list>,
): Promise<NextPage & { widgets: Widget[] }> {
  const named = withIds(await seenWidgets(world, actor), query.widget_ids)
  const { is_frame: isFrame } = query
  const ofKind = isFrame === undefined ? named : named.filter(({ widget_ids }) => widget_ids.length > 0 === isFrame)
  const using = metricUsers(ofKind, query, ({ metric_ids }) => metric_ids)
  const found = searched(using, query.search, ({ name, description, tags }) => searchedText([name, description], tags))
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byTitle : undefined)
  return { widgets: rows.map(shownWidget), ...rest }
}

const byTitle = byName(({ name }: WidgetRow) => [name])

export async function findWidget(world: MetaWorld, actor: Actor, id: string): Promise<WidgetRow> {
  const row = (await seenWidgets(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('widget', id)
  return row
}

export async function createWidget(world: World, actor: Actor, request: WidgetRequest): Promise<Widget> {
  const id = world.ids.uuid()
  const { members, made } = await resolveDraft(world, actor, request, { id, template: null })
  const nowMs = world.clock.nowMs()
  const signed = { created_at: nowMs, created_by: actor.identity, ...modifiedBy(actor, nowMs) }
  const row: WidgetRow = { org_id: actor.orgId, id, tags: {}, made_for: null, ...members, ...signed }
  const unseen = await hiddenFrom(world, actor)
  await world.meta.write(actor.orgId, async (tx) => {
    await lockWidgets(tx, actor.orgId)
    await insertTemplateRows(world, tx, actor, made)
    await checkMembers(tx, row, unseen)
    await storeWidget(world, tx, actor, row)
  })
  return shownWidget(row)
}

/** Replaces a widget; absent tags stay, since they have an endpoint of their own. */
export async function updateWidget(world: World, actor: Actor, record: WidgetRow, request: WidgetRequest): Promise<undefined> {
  const { members, made } = await resolveDraft(world, actor, request, record)
  await updateLocked(world, actor, record.id, async (tx, before) => {
    await insertTemplateRows(world, tx, actor, made)
    return { ...before, ...members }
  })
}

export async function changeWidget(world: World, actor: Actor, record: WidgetRow, change: WidgetChange): Promise<undefined> {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 0) {
    throw badRequest('the body must have one of name, description, type, aux, layout, metric_ids')
  }
  await updateLocked(world, actor, record.id, async (_, before) => ({
    ...before,
    ...given,
    ...(change.metric_ids ? { metric_ids: [...new Set(change.metric_ids)] } : {}),
  }))
}

/** Appends inner widgets; existing ones keep their position. */
export async function addChildren(world: World, actor: Actor, record: WidgetRow, ids: readonly string[]): Promise<undefined> {
  const unseen = await hiddenFrom(world, actor)
  await updateLocked(world, actor, record.id, async (tx, before) => {
    await checkWidgetIds(tx, actor.orgId, ids, unseen)
    const widget_ids = [...new Set([...before.widget_ids, ...ids])]
    if (widget_ids.length > CHILDREN_MAX) throw badField('widget_ids', `would exceed the ${CHILDREN_MAX} widgets that a widget can hold`)
    return { ...before, widget_ids }
  })
}

export async function removeChild(world: World, actor: Actor, record: WidgetRow, childId: string): Promise<undefined> {
  await updateLocked(world, actor, record.id, async (_, before) => {
    if (!before.widget_ids.includes(childId)) throw notFound('widget', childId)
    return {
      ...before,
      widget_ids: before.widget_ids.filter((id) => id !== childId),
      layout: { widget_layouts: before.layout.widget_layouts.filter(({ id }) => id !== childId) },
    }
  })
}

export async function removeWidget(world: World, actor: Actor, record: WidgetRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    await lockWidgets(tx, actor.orgId)
    await discardWidget(world, tx, actor, record.id)
  })
}

/** Deletes a widget and removes it from its containers, in a transaction that has locked the widgets. */
export async function discardWidget(world: World, tx: Db, actor: Actor, id: string): Promise<void> {
  const row = await lockWidget(tx, actor.orgId, id)
  if (!row) throw notFound('widget', id)
  const leaving = { id, ...modifiedBy(actor, world.clock.nowMs()) }
  await removeFromWidgets(tx, actor.orgId, leaving)
  await removeFromDashboards(tx, actor.orgId, leaving)
  await deleteWidget(tx, actor.orgId, id)
  await recordChange(world, tx, actor, { entity: { type: ENTITY, id }, before: shownWidget(row) })
}

/** Inserts a widget in the transaction of the record it belongs to. */
export async function storeWidget(world: World, tx: Db, actor: Actor, row: WidgetRow): Promise<void> {
  await insertWidget(tx, row)
  await recordChange(world, tx, actor, { entity: { type: ENTITY, id: row.id }, after: shownWidget(row) })
}

/** Turns widgets made for a dashboard template into ordinary ones. */
export async function detachWidgets(world: World, tx: Db, actor: Actor, madeFor: string): Promise<void> {
  for (const row of await lockWidgetsMadeFor(tx, actor.orgId, madeFor)) {
    await rewrite(world, tx, actor, row, { ...row, template: null, made_for: null })
  }
}

/** All widgets, with their containment locked. */
export async function lockedWidgets(tx: Db, orgId: string): Promise<WidgetRow[]> {
  await lockWidgets(tx, orgId)
  return selectWidgets(tx, orgId)
}

/** Throws a 404 for unknown widget ids; for ids in a larger body, checkHeld throws a 400. */
export async function checkWidgetIds(tx: Db, orgId: string, ids: readonly string[], unseen: HiddenRecords): Promise<void> {
  const known = new Set((await selectWidgets(tx, orgId)).map(({ id }) => id))
  const unknown = ids.find((id) => !known.has(id) || unseen.widgets.has(id))
  if (unknown !== undefined) throw notFound('widget', unknown)
}

type Members = Pick<WidgetRow, 'name' | 'description' | 'type' | 'metric_ids' | 'widget_ids' | 'layout' | 'aux' | 'template'> & {
  tags?: WidgetRow['tags']
}
type TemplateRows = { widgets: readonly WidgetRow[]; metrics: readonly MetricDefinitionRow[] }
const NOTHING: TemplateRows = { widgets: [], metrics: [] }

/** Merges the draft with its template; a template that the widget already has is not applied again. */
async function resolveDraft(
  world: World,
  actor: Actor,
  { template, ...said }: WidgetRequest,
  before: { id: string; template: Template | null },
): Promise<{ members: Members; made: TemplateRows }> {
  if (!template || (said.name !== undefined && isSameTemplate(template, before.template))) {
    return { members: membersOf(check(WidgetDraft, said, 'body'), template ? before.template : null), made: NOTHING }
  }
  for (const member of ['metric_ids', 'widget_ids'] as const) {
    if (said[member]?.length) throw badField(member, 'comes from the template', 'CONFLICT')
  }
  const plan = await planWidget(world, actor, { ...template, field: 'template' })
  const rows = await rowsOf(world, actor, plan, before.id)
  const { metric_ids, widget_ids, layout } = rows.widget
  const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
  const draft = check(WidgetDraft, { ...plan.draft, layout, ...given, metric_ids, widget_ids }, 'template')
  return { members: membersOf(draft, plan.template), made: { widgets: rows.within, metrics: rows.metrics } }
}

const membersOf = (draft: WidgetDraft, template: Template | null): Members => ({
  name: draft.name,
  description: draft.description ?? null,
  type: draft.type ?? 'line',
  metric_ids: [...new Set(draft.metric_ids)],
  widget_ids: [...new Set(draft.widget_ids)],
  layout: draft.layout ?? { widget_layouts: [] },
  aux: draft.aux ?? null,
  ...(draft.tags ? { tags: draft.tags } : {}),
  template,
})

/** Inserts the records that a template yields besides the widget, inner ones first. */
export async function insertTemplateRows(world: World, tx: Db, actor: Actor, { widgets, metrics }: TemplateRows): Promise<void> {
  for (const row of metrics) await storeMetricDefinition(world, tx, actor, row)
  for (const row of widgets) await storeWidget(world, tx, actor, row)
}

/** Updates one widget while all widget relations are locked. */
async function updateLocked(
  world: World,
  actor: Actor,
  id: string,
  decide: (tx: Db, before: WidgetRow) => Promise<WidgetRow>,
): Promise<void> {
  const unseen = await hiddenFrom(world, actor)
  await world.meta.write(actor.orgId, async (tx) => {
    await lockWidgets(tx, actor.orgId)
    const before = await lockWidget(tx, actor.orgId, id)
    if (!before) throw notFound('widget', id)
    const next = await decide(tx, before)
    await checkMembers(tx, next, unseen, before)
    await rewrite(world, tx, actor, before, next)
  })
}

async function rewrite(world: World, tx: Db, actor: Actor, before: WidgetRow, next: WidgetRow): Promise<void> {
  const row = { ...next, ...modifiedBy(actor, world.clock.nowMs()) }
  await updateWidgetRow(tx, row)
  await recordChange(world, tx, actor, { entity: { type: ENTITY, id: row.id }, before: shownWidget(before), after: shownWidget(row) })
}

/**
 * Rejects a widget that holds both metrics and widgets, something that does not exist, or itself. A metric it already had may be gone,
 * together with its monitor.
 */
async function checkMembers(
  tx: Db,
  { org_id, id, metric_ids, widget_ids }: WidgetRow,
  unseen: HiddenRecords,
  before?: WidgetRow,
): Promise<void> {
  if (metric_ids.length > 0 && widget_ids.length > 0) {
    throw badField('widget_ids', 'must be empty: a widget has either metrics or widgets', 'CONFLICT')
  }
  const added = metric_ids.filter((metric) => !before?.metric_ids.includes(metric))
  const [missing] = [...(await missingMetricDefinitions(tx, org_id, added)), ...added.filter((metric) => unseen.metrics.has(metric))]
  if (missing !== undefined) throw badField('metric_ids', `names no metric definition: ${missing}`, 'UNKNOWN_METRIC')
  if (widget_ids.length === 0) return
  const all = await selectWidgets(tx, org_id)
  const known = new Set(all.filter((widget) => !unseen.widgets.has(widget.id)).map((widget) => widget.id))
  const unknown = widget_ids.find((child) => child !== id && !known.has(child))
  if (unknown !== undefined) throw badField('widget_ids', `names no widget: ${unknown}`, 'UNKNOWN_WIDGET')
  if (within(widget_ids, all).has(id)) throw badField('widget_ids', 'would put the widget into itself', 'CYCLE')
}

export const shownWidget = (row: WidgetRow): Widget => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  type: row.type,
  metric_ids: [...row.metric_ids],
  widget_ids: [...row.widget_ids],
  layout: row.layout,
  ...(row.aux === null ? {} : { aux: row.aux }),
  tags: row.tags,
  ...(row.template === null ? {} : { template: row.template }),
  metadata: metadataOf(row),
})
