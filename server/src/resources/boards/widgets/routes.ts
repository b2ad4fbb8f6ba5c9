import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { templateHandlers } from '../../queries/templates/templates.ts'
import type { RecordPath } from '../../records.ts'
import { widgetData } from './data.ts'
import { widgetTemplates } from './made.ts'
import {
  addChildren,
  changeWidget,
  createWidget,
  findWidget,
  removeChild,
  removeWidget,
  shownWidget,
  updateWidget,
  widgetPage,
} from './widgets.ts'

const byWidgetId =
  (world: World) =>
  ({ actor, params }: RecordPath<'widgetId'>) =>
    findWidget(world, actor, params.widgetId)

export const widgetRoutes = (world: World): Routes =>
  routes('widgets', contract.widgets, {
    list: ({ actor, query }) => widgetPage(world, actor, query),
    create: ({ actor, body }) => createWidget(world, actor, body),
    get: onRecord(byWidgetId(world), async ({ record }) => shownWidget(record)),
    update: onRecord(byWidgetId(world), ({ actor, record, body }) => updateWidget(world, actor, record, body)),
    change: onRecord(byWidgetId(world), ({ actor, record, body }) => changeWidget(world, actor, record, body)),
    remove: onRecord(byWidgetId(world), ({ actor, record }) => removeWidget(world, actor, record)),
    addWidgets: onRecord(byWidgetId(world), ({ actor, record, body }) => addChildren(world, actor, record, body.widget_ids)),
    removeWidget: onRecord(byWidgetId(world), ({ actor, record, params }) => removeChild(world, actor, record, params.childId)),
    data: onRecord(byWidgetId(world), ({ actor, record, body, signal }) => widgetData(world, actor, record, body, signal)),
  })

export const widgetTemplateRoutes = (world: World): Routes =>
  routes(
    'widgetTemplates',
    contract.widgetTemplates,
    templateHandlers(world, widgetTemplates, (draft) => draft),
  )
