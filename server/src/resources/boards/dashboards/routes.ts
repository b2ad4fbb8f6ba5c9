import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import {
  createTemplate,
  findTemplate,
  listTemplates,
  removeTemplate,
  shownTemplate,
  updateTemplate,
} from '../../queries/templates/templates.ts'
import {
  addToDashboard,
  changeDashboard,
  createDashboard,
  detachDashboard,
  findDashboard,
  listDashboards,
  removeDashboard,
  showDashboard,
  takeFromDashboard,
} from './dashboards.ts'
import { dashboardTemplates, previewDashboard } from './made.ts'
import { dashboardsOfLogId } from './of-log.ts'

export const dashboardRoutes = (world: World): Routes =>
  routes('dashboards', contract.dashboards, {
    list: async ({ actor, query: { log_id } }) => ({
      dashboards: await (log_id === undefined ? listDashboards(world, actor) : dashboardsOfLogId(world, actor, log_id)),
    }),
    create: ({ actor, body }) => createDashboard(world, actor, body),
    preview: ({ actor, body }) => previewDashboard(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findDashboard(world, actor, params.dashboardId),
      ({ record }) => showDashboard(world, record),
    ),
    change: onRecord(
      ({ actor, params }) => findDashboard(world, actor, params.dashboardId),
      ({ actor, record, body }) => changeDashboard(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findDashboard(world, actor, params.dashboardId),
      ({ actor, record }) => removeDashboard(world, actor, record),
    ),
    addWidgets: onRecord(
      ({ actor, params }) => findDashboard(world, actor, params.dashboardId),
      ({ actor, record, body }) => addToDashboard(world, actor, record, body.widget_ids),
    ),
    removeWidget: onRecord(
      ({ actor, params }) => findDashboard(world, actor, params.dashboardId),
      ({ actor, record, params }) => takeFromDashboard(world, actor, record, params.widgetId),
    ),
    detach: onRecord(
      ({ actor, params }) => findDashboard(world, actor, params.dashboardId),
      ({ actor, record }) => detachDashboard(world, actor, record),
    ),
  })

export const dashboardTemplateRoutes = (world: World): Routes =>
  routes('dashboardTemplates', contract.dashboardTemplates, {
    list: ({ actor }) => listTemplates(world, actor, dashboardTemplates),
    create: ({ actor, body }) => createTemplate(world, actor, dashboardTemplates, body),
    get: onRecord(
      ({ actor, params }) => findTemplate(world, actor, dashboardTemplates, params.templateId),
      async ({ record }) => shownTemplate(record),
    ),
    update: onRecord(
      ({ actor, params }) => findTemplate(world, actor, dashboardTemplates, params.templateId),
      ({ actor, record, body }) => updateTemplate(world, actor, dashboardTemplates, record, () => body),
    ),
    remove: onRecord(
      ({ actor, params }) => findTemplate(world, actor, dashboardTemplates, params.templateId),
      ({ actor, record }) => removeTemplate(world, actor, dashboardTemplates, record),
    ),
  })
