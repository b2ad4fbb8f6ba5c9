import type { Dashboard, SortedPageQuery, Widget } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld } from '../../../world.ts'
import { byName, type NextPage, pageOf, searched, searchedText } from '../../list-pages.ts'
import { allWidgets, hiddenFrom, shownWidget, type WidgetRow } from '../widgets/widgets.ts'
import { type DashboardRow, selectDashboards } from './rows.ts'

const allDashboards = (world: MetaWorld, orgId: string): Promise<readonly DashboardRow[]> =>
  world.meta.cachedRows(orgId, 'dashboards', {
    read: (changed) => selectDashboards(world.meta, orgId, changed),
    idsIn: { dashboards: ({ id }) => id },
  })

/** The dashboards without a widget, at any depth, that is hidden from the caller. */
export async function seenDashboards(world: MetaWorld, actor: Actor): Promise<readonly DashboardRow[]> {
  const { widgets } = await hiddenFrom(world, actor)
  const rows = await allDashboards(world, actor.orgId)
  return widgets.size === 0 ? rows : rows.filter(({ widget_ids }) => !widget_ids.some((id) => widgets.has(id)))
}

/** The dashboards that the caller may see, filtered by `isShown`. */
export const listDashboards = async (world: MetaWorld, actor: Actor, isShown?: (row: DashboardRow) => boolean): Promise<Dashboard[]> =>
  (await dashboardPage(world, actor, {}, isShown)).dashboards

type DashboardListQuery = SortedPageQuery & { readonly widget_id?: string | undefined }

/** A page of these. */
export async function dashboardPage(
  world: MetaWorld,
  actor: Actor,
  query: DashboardListQuery,
  isShown?: (row: DashboardRow) => boolean,
): Promise<NextPage & { dashboards: Dashboard[] }> {
  const widgets = byId(await allWidgets(world, actor.orgId))
  const seen = await seenDashboards(world, actor)
  const textOf = ({ name, description, tags }: DashboardRow) => searchedText([name, description], tags)
  const { widget_id } = query
  const having = widget_id === undefined ? seen : seen.filter(({ widget_ids }) => widget_ids.includes(widget_id))
  const found = searched(isShown ? having.filter(isShown) : having, query.search, textOf)
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byTitle : undefined)
  return { dashboards: rows.map((row) => shownDashboard(row, widgets)), ...rest }
}

const byTitle = byName(({ name }: DashboardRow) => [name])

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
