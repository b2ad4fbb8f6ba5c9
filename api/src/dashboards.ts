import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { MetricDefinition } from './metric-definitions.ts'
import { Template, TemplateArguments, TemplateParameters, TemplateReference, templateLibrary } from './templates.ts'
import { list, Metadata, Tags, text, textParameter, uuid } from './values.ts'
import { Widget, WidgetIds, WidgetLayout } from './widgets.ts'

export const DASHBOARD_WIDGETS_MAX = 200

const Layout = z.object({
  metric_ids: list(text(1, 255), { max: 1_000 }).optional().describe('Metrics that belong to the dashboard.'),
  widget_layouts: list(WidgetLayout, { max: DASHBOARD_WIDGETS_MAX }).optional(),
})
export type DashboardLayout = z.output<typeof Layout>

const ShownLayout = z.object({ metric_ids: z.array(z.string()).optional(), widget_layouts: z.array(WidgetLayout).optional() })

export const Dashboard = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().optional(),
    widgets: z.array(Widget),
    widget_ids: z.array(uuid).describe('The ids of `widgets`, in the same order.'),
    layout: ShownLayout,
    tags: Tags,
    template: Template.optional(),
    metadata: Metadata,
  })
  .meta({ id: 'Dashboard', description: 'Widgets under a name, in order.' })
export type Dashboard = z.output<typeof Dashboard>

const widgetIds = list(uuid, { max: DASHBOARD_WIDGETS_MAX })
const members = {
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  layout: Layout.optional(),
  tags: Tags.optional(),
  widget_ids: widgetIds.optional(),
}

export const DashboardDraft = z.object(members)
export type DashboardDraft = z.output<typeof DashboardDraft>

const Draft = DashboardDraft.extend({
  name: members.name.optional().describe('Required unless a template provides it.'),
  template: Template.optional().describe('Provides every member that is absent here; its widgets and their metrics are created.'),
})
export type DashboardRequest = z.output<typeof Draft>

const Change = z.object({
  name: members.name.optional(),
  description: members.description,
  layout: Layout.optional().describe('Replaces the given members and keeps the others.'),
  widget_ids: widgetIds.optional().describe('The whole list.'),
  append_widget_ids: widgetIds.optional().describe('Widgets that are already on the dashboard keep their position.'),
  remove_widget_ids: widgetIds.optional(),
  tags: Tags.optional().describe('Replaces all tags.'),
})
export type DashboardChange = z.output<typeof Change>

const TemplateDraft = z.object({
  name: text(1, 255),
  description: text(0, 1_024).optional(),
  widgets: list(TemplateReference, { max: DASHBOARD_WIDGETS_MAX }).default([]).describe('Templates of widgets.'),
  layout: Layout.optional().describe('Its ids are those of the templates under `widgets`.'),
  this_template_tags: Tags.describe('Tags of the logs that the template is for, such as their `log_type`.'),
  tags: Tags.default({}),
  parameters: TemplateParameters.default({}),
})
export type DashboardTemplateDraft = z.output<typeof TemplateDraft>

const DashboardTemplate = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string().optional(),
    widgets: z.array(TemplateReference),
    layout: ShownLayout.optional(),
    this_template_tags: Tags,
    tags: Tags,
    parameters: TemplateParameters,
    metadata: Metadata,
  })
  .meta({ id: 'DashboardTemplate', description: 'A dashboard with parameters.' })

const PreviewMetric = MetricDefinition.omit({ id: true, metadata: true }).meta({ id: 'PreviewMetric' })

export const PreviewWidget = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    type: z.string(),
    layout: z.object({ widget_layouts: z.array(WidgetLayout) }),
    aux: z.record(z.string(), z.unknown()).optional(),
    tags: Tags,
    template: Template,
    metrics: z.array(PreviewMetric),
    get widgets() {
      return z.array(PreviewWidget)
    },
  })
  .meta({ id: 'PreviewWidget', description: 'A widget as it would be created; its layout names the templates of the widgets inside.' })
export type PreviewWidget = z.output<typeof PreviewWidget>

const Preview = z.object({
  name: z.string(),
  description: z.string().optional(),
  layout: ShownLayout,
  tags: Tags,
  template: Template,
  widgets: z.array(PreviewWidget),
})

const permissions = ['dashboards_read', 'dashboards_write', 'dashboards_delete'] as const
const [READ, WRITE, DELETE] = permissions

/** Dashboard ids are free text; an unknown one is 404, however long. */
const params = z.object({ dashboardId: z.string() })

export const dashboards = {
  list: endpoint({
    method: 'GET',
    path: '/dashboards',
    permission: READ,
    tier: 'S',
    summary: 'List dashboards, newest first',
    query: z.object({
      log_id: textParameter(255).pipe(uuid.optional()).describe('Only those with a widget whose queries read this log.'),
      widget_id: textParameter(255).pipe(uuid.optional()).describe('Only those that have this widget themselves, not in a frame.'),
      ...pageParameters,
      sort: sortParameter([]),
    }),
    reply: z.object({ dashboards: z.array(Dashboard), next_cursor: nextCursor }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/dashboards',
    permission: WRITE,
    tier: 'C',
    summary: 'Create a dashboard: empty, from widgets, or from a template',
    body: Draft,
    status: 201,
    reply: Dashboard,
  }),
  preview: endpoint({
    method: 'POST',
    path: '/dashboards/preview',
    permission: READ,
    tier: 'X',
    summary: 'Preview a template without storing anything',
    body: z.object({ template: Template.optional(), template_id: uuid.optional(), arguments: TemplateArguments.optional() }),
    reply: Preview,
  }),
  get: endpoint({
    method: 'GET',
    path: '/dashboards/{dashboardId}',
    permission: READ,
    tier: 'C',
    summary: 'One dashboard',
    params,
    reply: Dashboard,
    fails: [404],
  }),
  change: endpoint({
    method: 'PATCH',
    path: '/dashboards/{dashboardId}',
    permission: WRITE,
    tier: 'S',
    summary: 'Update a dashboard: name, layout or widgets',
    params,
    body: Change,
    reply: Dashboard,
    fails: [404],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/dashboards/{dashboardId}',
    permission: DELETE,
    tier: 'C',
    summary: 'Delete a dashboard and its widgets that no other dashboard uses',
    params,
    fails: [404],
  }),
  addWidgets: endpoint({
    method: 'POST',
    path: '/dashboards/{dashboardId}/widgets',
    permission: WRITE,
    tier: 'C',
    summary: 'Add widgets to a dashboard',
    params,
    body: WidgetIds,
    fails: [404],
  }),
  removeWidget: endpoint({
    method: 'DELETE',
    path: '/dashboards/{dashboardId}/widgets/{widgetId}',
    permission: WRITE,
    tier: 'C',
    summary: 'Remove a widget from a dashboard without deleting it',
    params: params.extend({ widgetId: uuid }),
    fails: [404],
  }),
  detach: endpoint({
    method: 'POST',
    path: '/dashboards/{dashboardId}/detach-from-template',
    permission: WRITE,
    tier: 'C',
    summary: 'Detach a dashboard, its widgets and metrics from their template',
    params,
    reply: Dashboard,
    fails: [404],
  }),
}

export const dashboardTemplates = templateLibrary('dashboards', {
  of: 'dashboards',
  draft: TemplateDraft,
  change: TemplateDraft,
  shown: DashboardTemplate,
  permissions,
})
