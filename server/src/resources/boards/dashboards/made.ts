import { DashboardDraft, type DashboardLayout, type DashboardTemplateDraft, type PreviewWidget, type Template } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import type { MetricDefinitionRow } from '../../queries/metric-definitions/metric-definitions.ts'
import { bindTemplate, checkReferences, fillIn, type Library, type TemplateUse, usesOf } from '../../queries/templates/templates.ts'
import type { WidgetRow } from '../widgets/widgets.ts'
import { childPlaces, PLANNED_MAX, placed, planWidget, rowsOf, type WidgetPlan, widgetTemplates } from '../widgets/widgets.ts'

/** A dashboard from a template before anything is created. */
export type DashboardPlan = { readonly draft: DashboardDraft; readonly template: Template; readonly widgets: readonly WidgetPlan[] }

const PARTS = ['name', 'description', 'layout', 'tags'] as const

export const dashboardTemplates: Library<DashboardTemplateDraft> = {
  kind: 'dashboard_template',
  parts: PARTS,
  uses: ({ widgets }) => [usesOf(widgetTemplates, widgets)],
  check: (world, actor, draft) =>
    checkReferences(world, actor, widgetTemplates, {
      references: draft.widgets,
      outer: draft.parameters,
      fieldOf: (index) => `widgets.${index}`,
    }),
}

/** Plans the dashboard of a template; anything invalid is a 400. */
export async function planDashboard(world: World, actor: Actor, use: TemplateUse): Promise<DashboardPlan> {
  const { definition, binding, template } = await bindTemplate(world, actor, dashboardTemplates, use)
  const parts = Object.fromEntries(PARTS.map((part) => [part, fillIn(definition[part], binding, part)]))
  const widgets: WidgetPlan[] = []
  const budget = { left: PLANNED_MAX }
  for (const [index, reference] of definition.widgets.entries()) {
    const inner = { ...reference, field: `${use.field}.widgets.${index}`, enclosing: binding }
    widgets.push(await planWidget(world, actor, inner, budget))
  }
  return { draft: check(DashboardDraft, parts, 'template'), template, widgets }
}

type DashboardRows = { top: string[]; widgets: WidgetRow[]; metrics: MetricDefinitionRow[]; layout: DashboardLayout }

/** Builds the rows of a plan; `top` are the widgets of the dashboard itself. */
export async function dashboardRowsOf(world: World, actor: Actor, plan: DashboardPlan, dashboardId: string): Promise<DashboardRows> {
  const made = []
  for (const widget of plan.widgets) made.push(await rowsOf(world, actor, widget, dashboardId))
  const top = made.map(({ widget }) => widget.id)
  const { widget_layouts, ...layout } = plan.draft.layout ?? {}
  return {
    top,
    widgets: made.flatMap(({ within, widget }) => [...within, widget]),
    metrics: made.flatMap(({ metrics }) => metrics),
    layout: { ...layout, ...(widget_layouts ? { widget_layouts: placed(widget_layouts, childPlaces(plan.widgets, top)) } : {}) },
  }
}

type PreviewRequest = { template?: Template | undefined; template_id?: string | undefined; arguments?: Template['arguments'] | undefined }

/** Shows what a template would create; its layouts name widget templates, since no widgets exist yet. */
export async function previewDashboard(world: World, actor: Actor, request: PreviewRequest) {
  const { template = request.template_id === undefined ? undefined : { id: request.template_id, arguments: request.arguments } } = request
  if (!template) throw badField('template', 'is required, or template_id', 'INVALID_TYPE')
  const { draft, template: bound, widgets } = await planDashboard(world, actor, { ...template, field: 'template' })
  return {
    name: draft.name,
    ...(draft.description === undefined ? {} : { description: draft.description }),
    layout: draft.layout ?? {},
    tags: draft.tags ?? {},
    template: bound,
    widgets: widgets.map(previewOf),
  }
}

const previewOf = ({ draft, layout, template, metrics, children }: WidgetPlan): PreviewWidget => ({
  name: draft.name,
  ...(draft.description === undefined ? {} : { description: draft.description }),
  type: draft.type ?? 'line',
  layout: { widget_layouts: [...layout] },
  ...(draft.aux ? { aux: draft.aux } : {}),
  tags: draft.tags ?? {},
  template,
  metrics: metrics.map(({ draft: metric, template: made }) => ({ ...metric, template: made })),
  widgets: children.map(previewOf),
})
