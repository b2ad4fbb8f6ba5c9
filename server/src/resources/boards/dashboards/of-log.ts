import type { Dashboard, MetricQuery } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, visibleDatasets } from '../../data/datasets/datasets.ts'
import { allMetricDefinitions } from '../../queries/metric-definitions/metric-definitions.ts'
import { allWidgets, within } from '../widgets/widgets.ts'
import { dashboardPage, listDashboards } from './listing.ts'
import type { DashboardRow } from './rows.ts'

/** The dashboards with a widget, at any depth, whose queries read a log. */
export const dashboardsOfLog = async (world: World, actor: Actor, log: DatasetRow): Promise<Dashboard[]> =>
  listDashboards(world, actor, await readersOf(world, actor, log))

async function readersOf(world: World, actor: Actor, log: DatasetRow): Promise<(row: Pick<DashboardRow, 'widget_ids'>) => boolean> {
  const widgets = await allWidgets(world, actor.orgId)
  const definitions = await allMetricDefinitions(world, actor.orgId)
  const reading = new Set(definitions.filter(({ queries }) => queries.some((query) => reads(query, log))).map(({ id }) => id))
  const showing = new Set(widgets.filter(({ metric_ids }) => metric_ids.some((id) => reading.has(id))).map(({ id }) => id))
  return ({ widget_ids }) => !within(widget_ids, widgets).isDisjointFrom(showing)
}

/** None if the caller sees no such log. */
export async function pageOfLogId(
  world: World,
  actor: Actor,
  logId: string,
  query: Parameters<typeof dashboardPage>[2],
): ReturnType<typeof dashboardPage> {
  const log = (await visibleDatasets(world, actor)).find(({ id }) => id === logId)
  return dashboardPage(world, actor, query, log ? await readersOf(world, actor, log) : () => false)
}

/** True if a query reads a log, by selector or by id. */
function reads(query: MetricQuery, log: DatasetRow): boolean {
  if (!query.from_expr?.trim()) return query.from?.includes(log.id) ?? false
  return matchDatasets(parseSelector(query.from_expr), [log]).length > 0
}
