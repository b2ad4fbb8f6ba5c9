import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { metricUserParameters } from './metric-definitions.ts'
import { MetricTimeseries } from './metric-shapes.ts'
import { SLICES_MAX } from './search.ts'
import { Template, TemplateParameters, TemplateReference, templateLibrary } from './templates.ts'
import { anyValue, booleanParameter, list, listParameter, Metadata, mapOf, ms, Tags, text, uuid } from './values.ts'

export const METRICS_MAX = 20
export const CHILDREN_MAX = 50
const AUX_MAX = 10
const AUX_CHARS_MAX = 100_000
const DATA_GROUPS_MAX = 1_000

const WidgetType = z.enum(['line', 'bar', 'area', 'score', 'pie', 'treemap', 'top-list'])

export const WidgetLayout = z
  .object({ id: uuid, x: z.number(), y: z.number(), w: z.number(), h: z.number() })
  .meta({ id: 'WidgetPosition', description: 'Position and size of a widget; fractions are allowed.' })
export type WidgetLayout = z.output<typeof WidgetLayout>

const layouts = (max: number) => list(WidgetLayout, { max })
const Aux = mapOf(anyValue(AUX_CHARS_MAX), AUX_MAX).describe('Such as the color; stored unchanged.')
const Layout = z.object({ widget_layouts: layouts(CHILDREN_MAX).default([]) })

export const Widget = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().optional(),
    type: WidgetType,
    metric_ids: z.array(uuid).describe('The visualization.'),
    widget_ids: z.array(uuid).describe('The widgets inside it; a widget has either these or metrics.'),
    layout: z.object({ widget_layouts: z.array(WidgetLayout) }),
    aux: z.record(z.string(), z.unknown()).optional(),
    tags: Tags,
    template: Template.optional(),
    metadata: Metadata,
  })
  .meta({ id: 'Widget', description: 'A visualization of metrics, or a container of other widgets.' })
export type Widget = z.output<typeof Widget>

const members = {
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  type: WidgetType.optional().describe('`line` when absent.'),
  aux: Aux.optional(),
  metric_ids: list(uuid, { max: METRICS_MAX }).optional().describe('Metric definitions.'),
  widget_ids: list(uuid, { max: CHILDREN_MAX }).optional().describe('Widgets inside this one; not together with metrics.'),
  layout: Layout.optional(),
  tags: Tags.optional(),
}

export const WidgetDraft = z.object(members)
export type WidgetDraft = z.output<typeof WidgetDraft>

const WidgetRequest = WidgetDraft.extend({
  name: members.name.optional().describe('Required unless a template provides it.'),
  template: Template.optional().describe('Provides every member that is absent here; its metrics and widgets are created.'),
})
export type WidgetRequest = z.output<typeof WidgetRequest>

const Change = z.object({
  name: members.name.optional(),
  description: members.description,
  type: members.type,
  aux: members.aux,
  layout: members.layout,
  metric_ids: members.metric_ids,
})
export type WidgetChange = z.output<typeof Change>

export const WidgetIds = z.object({ widget_ids: list(uuid, { min: 1, max: CHILDREN_MAX }) })

const TemplateDraft = z.object({
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  type: WidgetType.default('line'),
  aux: Aux.optional(),
  metrics: list(TemplateReference, { max: METRICS_MAX }).default([]).describe('Templates of metric definitions.'),
  widgets: list(TemplateReference, { max: CHILDREN_MAX })
    .default([])
    .describe('Templates of the widgets inside; not together with metrics.'),
  layout: Layout.optional().describe('Its ids are those of the templates under `widgets`.'),
  tags: Tags.default({}),
  parameters: TemplateParameters.default({}),
})
export type WidgetTemplateDraft = z.output<typeof TemplateDraft>

const WidgetTemplate = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().optional(),
    type: WidgetType,
    aux: z.record(z.string(), z.unknown()).optional(),
    metrics: z.array(TemplateReference),
    widgets: z.array(TemplateReference),
    layout: z.object({ widget_layouts: z.array(WidgetLayout) }).optional(),
    tags: Tags,
    parameters: TemplateParameters,
    metadata: Metadata,
  })
  .meta({ id: 'WidgetTemplate', description: 'A widget with parameters.' })

const DataAsk = z.object({
  time_range: text(0, 255).optional().describe('`Last 20 minutes` when no range is given.'),
  from_ts: ms.optional(),
  to_ts: ms.optional(),
  limit: z.int().min(1).max(DATA_GROUPS_MAX).optional().describe('Groups; 100 when absent.'),
  num_of_slices: z.int().min(1).max(SLICES_MAX).optional().describe('10 when absent.'),
  where: text(0, 32_768).optional().describe('An additional filter on the events of every query.'),
  delta: z.boolean().optional(),
  delta_time_range: text(0, 255).optional(),
  delta_from_ts: ms.optional(),
  delta_to_ts: ms.optional(),
})

const permissions = ['dashboards_read', 'dashboards_write', 'dashboards_delete'] as const
const [READ, WRITE, DELETE] = permissions

export const widgets = {
  list: endpoint({
    method: 'GET',
    path: '/widgets',
    permission: READ,
    tier: 'S',
    summary: 'List widgets, newest first',
    query: z.object({
      widget_ids: listParameter(uuid).describe('Only these widgets.'),
      ...metricUserParameters,
      is_frame: booleanParameter.describe('Only widgets that contain others, or only those that do not.'),
      ...pageParameters,
      sort: sortParameter([]),
    }),
    reply: z.object({ widgets: z.array(Widget), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/widgets',
    permission: WRITE,
    tier: 'C',
    summary: 'Create a widget from metrics or other widgets',
    body: WidgetRequest,
    status: 201,
    reply: Widget,
  }),
  get: endpoint({
    method: 'GET',
    path: '/widgets/{widgetId}',
    permission: READ,
    tier: 'C',
    summary: 'One widget',
    reply: Widget,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/widgets/{widgetId}',
    permission: WRITE,
    tier: 'C',
    summary: 'Replace a widget',
    body: WidgetRequest,
    fails: [404],
  }),
  change: endpoint({
    method: 'PATCH',
    path: '/widgets/{widgetId}',
    permission: WRITE,
    tier: 'C',
    summary: 'Update a widget',
    body: Change,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/widgets/{widgetId}',
    permission: DELETE,
    tier: 'C',
    summary: 'Delete a widget and remove it from every dashboard and widget',
    fails: [404],
  }),
  addWidgets: endpoint({
    method: 'POST',
    path: '/widgets/{widgetId}/widgets',
    permission: WRITE,
    tier: 'C',
    summary: 'Add widgets to a widget',
    body: WidgetIds,
    fails: [404],
  }),
  removeWidget: endpoint({
    method: 'DELETE',
    path: '/widgets/{widgetId}/widgets/{childId}',
    permission: WRITE,
    tier: 'C',
    summary: 'Remove a widget from a widget without deleting it',
    fails: [404],
  }),
  data: endpoint({
    method: 'POST',
    path: '/widgets/{widgetId}/data',
    permission: 'search_read',
    tier: 'D',
    summary: 'Get the time series of all metrics of a widget and of the widgets inside it',
    body: DataAsk,
    reply: z.object({
      metrics: z.array(z.object({ widget_id: uuid, metric_id: uuid, timeseries: z.record(z.string(), MetricTimeseries) })),
    }),
    fails: [404, 503],
  }),
}

export const widgetTemplates = templateLibrary('widgets', {
  of: 'widgets',
  draft: TemplateDraft,
  change: TemplateDraft,
  shown: WidgetTemplate,
  permissions,
})
