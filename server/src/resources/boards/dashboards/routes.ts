import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { templateHandlers } from '../../queries/templates/templates.ts'
import type { RecordPath } from '../../records.ts'
import {
  addToDashboard,
  changeDashboard,
  createDashboard,
  dashboardPage,
  detachDashboard,
  findDashboard,
  removeDashboard,
  showDashboard,
  takeFromDashboard,
} from './dashboards.ts'
import { dashboardTemplates, previewDashboard } from './made.ts'
import { pageOfLogId } from './of-log.ts'

const byDashboardId =
  (world: World) =>
  ({ actor, params }: RecordPath<'dashboardId'>) =>
    findDashboard(world, actor, params.dashboardId)

export const dashboardRoutes = (world: World): Routes =>
  routes('dashboards', contract.dashboards, {
    list: ({ actor, query: { log_id, ...query } }) =>
      log_id === undefined ? dashboardPage(world, actor, query) : pageOfLogId(world, actor, log_id, query),
    create: ({ actor, body }) => createDashboard(world, actor, body),
    preview: ({ actor, body }) => previewDashboard(world, actor, body),
    get: onRecord(byDashboardId(world), ({ record }) => showDashboard(world, record)),
    change: onRecord(byDashboardId(world), ({ actor, record, body }) => changeDashboard(world, actor, record, body)),
    remove: onRecord(byDashboardId(world), ({ actor, record }) => removeDashboard(world, actor, record)),
    addWidgets: onRecord(byDashboardId(world), ({ actor, record, body }) => addToDashboard(world, actor, record, body.widget_ids)),
    removeWidget: onRecord(byDashboardId(world), ({ actor, record, params }) => takeFromDashboard(world, actor, record, params.widgetId)),
    detach: onRecord(byDashboardId(world), ({ actor, record }) => detachDashboard(world, actor, record)),
  })

export const dashboardTemplateRoutes = (world: World): Routes =>
  routes(
    'dashboardTemplates',
    contract.dashboardTemplates,
    templateHandlers(world, dashboardTemplates, (draft) => draft),
  )
