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
import { widgetData } from './data.ts'
import { widgetTemplates } from './made.ts'
import {
  addChildren,
  changeWidget,
  createWidget,
  findWidget,
  listWidgets,
  removeChild,
  removeWidget,
  shownWidget,
  updateWidget,
} from './widgets.ts'

export const widgetRoutes = (world: World): Routes =>
  routes('widgets', contract.widgets, {
    list: async ({ actor }) => ({ widgets: await listWidgets(world, actor) }),
    create: ({ actor, body }) => createWidget(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      async ({ record }) => shownWidget(record),
    ),
    update: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      ({ actor, record, body }) => updateWidget(world, actor, record, body),
    ),
    change: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      ({ actor, record, body }) => changeWidget(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      ({ actor, record }) => removeWidget(world, actor, record),
    ),
    addWidgets: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      ({ actor, record, body }) => addChildren(world, actor, record, body.widget_ids),
    ),
    removeWidget: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      ({ actor, record, params }) => removeChild(world, actor, record, params.childId),
    ),
    data: onRecord(
      ({ actor, params }) => findWidget(world, actor, params.widgetId),
      ({ actor, record, body, signal }) => widgetData(world, actor, record, body, signal),
    ),
  })

export const widgetTemplateRoutes = (world: World): Routes =>
  routes('widgetTemplates', contract.widgetTemplates, {
    list: ({ actor }) => listTemplates(world, actor, widgetTemplates),
    create: ({ actor, body }) => createTemplate(world, actor, widgetTemplates, body),
    get: onRecord(
      ({ actor, params }) => findTemplate(world, actor, widgetTemplates, params.templateId),
      async ({ record }) => shownTemplate(record),
    ),
    update: onRecord(
      ({ actor, params }) => findTemplate(world, actor, widgetTemplates, params.templateId),
      ({ actor, record, body }) => updateTemplate(world, actor, widgetTemplates, record, () => body),
    ),
    remove: onRecord(
      ({ actor, params }) => findTemplate(world, actor, widgetTemplates, params.templateId),
      ({ actor, record }) => removeTemplate(world, actor, widgetTemplates, record),
    ),
  })
