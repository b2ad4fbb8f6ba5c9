import type { BodyOf, contract, InstalledContentPack } from '@dendro/api'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import { badField, forbidden } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { type DashboardRow, storeDashboard } from '../../boards/dashboards/dashboards.ts'
import { lockedWidgets, type WidgetRow } from '../../boards/widgets/widgets.ts'
import { type MetricDefinitionRow, newMetricDefinition } from '../../queries/metric-definitions/metric-definitions.ts'
import { createdBy } from '../../records.ts'
import { newMonitor, storeMonitor } from '../../watching/monitors/monitors.ts'
import type { FilledMonitor, FilledPack, FilledWidget } from './fill.ts'
import { DASHBOARD_PART, filledFor, ownParts } from './filled-pack.ts'
import { placeWidgets } from './place-widgets.ts'
import { type InstalledPart, selectInstalled, upsertInstalled } from './rows.ts'

type InstallRequest = BodyOf<typeof contract.contentPacks.install>
type DashboardRows = { readonly row: DashboardRow; readonly widgets: WidgetRow[]; readonly metrics: MetricDefinitionRow[] }

/** Creates the dashboard and the chosen monitors in one transaction. What exists already is returned as it is. */
export async function installPack(
  world: World,
  actor: Actor,
  packId: string,
  request: InstallRequest,
  signal: AbortSignal,
): Promise<InstalledContentPack> {
  checkRequest(actor, request)
  const { pack, dataset, filled } = await filledFor(
    world,
    actor,
    { packId, datasetId: request.dataset_id, given: request.parameters },
    signal,
  )
  const chosen = chosenMonitors(filled, request.monitors)
  if (request.dashboard && filled.widgets.length === 0)
    throw badField('parameters', 'name no field that a widget of the content pack needs')
  const dashboard = request.dashboard ? await dashboardRows(world, actor, filled) : undefined
  const monitors = await Promise.all(
    chosen.map(async ({ id, rule }) => ({ id, row: await newMonitor(world, actor, draftOf(rule, request)) })),
  )
  return world.meta.write(actor.orgId, async (tx) => {
    // Locks out every other creation in the organization, so that of two installations the second finds the records of the first.
    await lockedWidgets(tx, actor.orgId)
    const own = ownParts(await selectInstalled(tx, actor.orgId, [dataset.id]), dataset, pack)
    const keep = (part: string, recordId: string) =>
      upsertInstalled(tx, actor.orgId, { log_id: dataset.id, pack: pack.id, part, record_id: recordId })
    const installed: InstalledContentPack = { monitors: [], left_out: [...filled.leftOut] }
    if (dashboard)
      installed.dashboard = await storePart(own, DASHBOARD_PART, dashboard.row, keep, () => storeRows(world, tx, actor, dashboard))
    for (const { id, row } of monitors) {
      const { id: monitorId, name, is_new } = await storePart(own, id, row, keep, () => storeMonitor(world, tx, actor, row))
      installed.monitors.push({ id, monitor_id: monitorId, name, is_new })
    }
    return installed
  })
}

function checkRequest(actor: Actor, { dashboard, monitors, actions }: InstallRequest): void {
  if (!dashboard && monitors.length === 0) throw badField('monitors', 'must name a monitor when dashboard is false')
  if (monitors.length === 0) return
  if (!hasPermission(actor, 'monitors_write')) throw forbidden('creating monitors needs the permission monitors_write')
  if (!actions) throw badField('actions', 'is required with monitors', 'INVALID_TYPE')
}

function chosenMonitors({ monitors, leftOut }: FilledPack, ids: readonly string[]): FilledMonitor[] {
  return [...new Set(ids)].map((id) => {
    const found = monitors.find((monitor) => monitor.id === id)
    if (found) return found
    const reasons = [...new Set(leftOut.filter(({ kind }) => kind === 'MONITOR').map(({ reason }) => reason))]
    const offered = monitors.length === 0 ? 'none is offered' : `offered are ${monitors.map((monitor) => monitor.id).join(', ')}`
    throw badField('monitors', `names no offered monitor: ${id}; ${[offered, ...reasons].join('; ')}`, 'UNKNOWN_MONITOR')
  })
}

const draftOf = (rule: FilledMonitor['rule'], { actions }: InstallRequest): Parameters<typeof newMonitor>[2] => ({
  ...rule,
  actions,
  tags: {},
})

async function dashboardRows(world: World, actor: Actor, { name, description, widgets }: FilledPack): Promise<DashboardRows> {
  const id = world.ids.uuid()
  const made = []
  for (const widget of widgets) made.push(await widgetRows(world, actor, widget, id))
  const ids = made.map(({ row }) => row.id)
  const row: DashboardRow = {
    org_id: actor.orgId,
    id,
    name,
    description,
    widget_ids: ids,
    layout: { widget_layouts: placeWidgets(widgets).map((place, at) => ({ id: ids[at] ?? '', ...place })) },
    tags: {},
    template: null,
    ...createdBy(actor, world.clock.nowMs()),
  }
  return { row, widgets: made.map(({ row: widget }) => widget), metrics: made.map(({ metric }) => metric) }
}

/** The metric is made for the dashboard, and deleted with it. */
async function widgetRows(world: World, actor: Actor, { name, type, queries, formulas }: FilledWidget, dashboardId: string) {
  const draft = { name, queries, ...(formulas.length === 0 ? {} : { formulas }) }
  const metric: MetricDefinitionRow = { ...(await newMetricDefinition(world, actor, draft, null)), made_for: dashboardId }
  const row: WidgetRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name,
    description: null,
    type,
    metric_ids: [metric.id],
    widget_ids: [],
    layout: { widget_layouts: [] },
    aux: null,
    tags: {},
    template: null,
    made_for: dashboardId,
    ...createdBy(actor, world.clock.nowMs()),
  }
  return { row, metric }
}

const storeRows = (world: World, tx: Db, actor: Actor, { row, ...made }: DashboardRows) => storeDashboard(world, tx, actor, row, made)

/** Stores a part unless it exists. */
async function storePart(
  own: ReadonlyMap<string, InstalledPart>,
  part: string,
  { id, name }: { id: string; name: string },
  keep: (part: string, recordId: string) => Promise<unknown>,
  store: () => Promise<unknown>,
): Promise<{ id: string; name: string; is_new: boolean }> {
  const existing = own.get(part)
  if (existing) return { id: existing.record_id, name: existing.name, is_new: false }
  await store()
  await keep(part, id)
  return { id, name, is_new: true }
}
