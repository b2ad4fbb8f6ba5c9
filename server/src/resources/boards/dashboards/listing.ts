import type { Dashboard, Widget } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld } from '../../../world.ts'
import { allWidgets, hiddenFrom, shownWidget, type WidgetRow } from '../widgets/widgets.ts'
import { type DashboardRow, selectDashboards } from './rows.ts'

const allDashboards = (world: MetaWorld, orgId: string): Promise<readonly DashboardRow[]> =>
  world.meta.cached(orgId, 'dashboards', () => selectDashboards(world.meta, orgId))

/** The dashboards without a widget, at any depth, that is hidden from the caller. */
export async function seenDashboards(world: MetaWorld, actor: Actor): Promise<readonly DashboardRow[]> {
  const { widgets } = await hiddenFrom(world, actor)
  const rows = await allDashboards(world, actor.orgId)
  return widgets.size === 0 ? rows : rows.filter(({ widget_ids }) => !widget_ids.some((id) => widgets.has(id)))
}

/** The dashboards that the caller may see, filtered by `isShown`. */
export async function listDashboards(world: MetaWorld, actor: Actor, isShown?: (row: DashboardRow) => boolean): Promise<Dashboard[]> {
  const widgets = byId(await allWidgets(world, actor.orgId))
  const rows = await seenDashboards(world, actor)
  return (isShown ? rows.filter(isShown) : rows).map((row) => shownDashboard(row, widgets))
}

export const byId = (widgets: readonly WidgetRow[]): ReadonlyMap<string, WidgetRow> => new Map(widgets.map((widget) => [widget.id, widget]))

export function shownDashboard(row: DashboardRow, all: ReadonlyMap<string, WidgetRow>): Dashboard {
  const widgets = row.widget_ids.flatMap((id): Widget[] => {
    const widget = all.get(id)
    return widget ? [shownWidget(widget)] : []
  })
  return { ...audited(row), widgets, widget_ids: widgets.map(({ id }) => id), metadata: metadataOf(row) }
}

/** A dashboard in the audit trail; widgets have records of their own. */
export const audited = (row: DashboardRow): Omit<Dashboard, 'widgets'> => ({
  id: row.id,
  name: row.name,
  ...(row.description === null ? {} : { description: row.description }),
  widget_ids: [...row.widget_ids],
  layout: row.layout,
  tags: row.tags,
  ...(row.template === null ? {} : { template: row.template }),
  metadata: metadataOf(row),
})
