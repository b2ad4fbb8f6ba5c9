import { type MetricDefinitionDraft, type Template, WidgetDraft, type WidgetLayout, type WidgetTemplateDraft } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import {
  draftFromTemplate,
  type MetricDefinitionRow,
  metricDefinitionTemplates,
  newMetricDefinition,
} from '../../queries/metric-definitions/metric-definitions.ts'
import {
  bindTemplate,
  checkReferences,
  fillIn,
  type Library,
  listTemplates,
  type TemplateUse,
  usesOf,
} from '../../queries/templates/templates.ts'
import { createdBy } from '../../records.ts'
import type { WidgetRow } from './rows.ts'
import { within } from './tree.ts'

/** A widget from a template before anything is created. */
export type WidgetPlan = {
  readonly draft: WidgetDraft
  /** Names the templates of the inner widgets. */
  readonly layout: readonly WidgetLayout[]
  readonly template: Template
  readonly metrics: readonly { readonly draft: MetricDefinitionDraft; readonly template: Template }[]
  readonly children: readonly WidgetPlan[]
}

const PARTS = ['name', 'description', 'aux', 'tags'] as const
/** Bounds what one template creates: nested templates multiply. */
export const PLANNED_MAX = 500

export const widgetTemplates: Library<WidgetTemplateDraft> = {
  kind: 'widget_template',
  parts: PARTS,
  uses: ({ metrics, widgets }) => [usesOf(metricDefinitionTemplates, metrics), usesOf(widgetTemplates, widgets)],
  check: async (world, actor, draft, id) => {
    if (draft.metrics.length > 0 && draft.widgets.length > 0) {
      throw badField('widgets', 'must be empty: a widget has either metrics or widgets', 'CONFLICT')
    }
    await checkReferences(world, actor, metricDefinitionTemplates, {
      references: draft.metrics,
      outer: draft.parameters,
      fieldOf: (index) => `metrics.${index}`,
    })
    await checkReferences(world, actor, widgetTemplates, {
      references: draft.widgets,
      outer: draft.parameters,
      fieldOf: (index) => `widgets.${index}`,
    })
    if (id === undefined) return
    const { templates } = await listTemplates(world, actor, widgetTemplates, {})
    const holders = templates.map((template) => ({ id: template.id, widget_ids: template.widgets.map((child) => child.id) }))
    const children = draft.widgets.map((child) => child.id)
    if (within(children, holders).has(id)) throw badField('widgets', 'would put the template into itself', 'CYCLE')
  },
}

/** Plans the widget of a template; anything invalid is a 400. */
export async function planWidget(world: World, actor: Actor, use: TemplateUse, budget = { left: PLANNED_MAX }): Promise<WidgetPlan> {
  const { definition, binding, template } = await bindTemplate(world, actor, widgetTemplates, use)
  budget.left -= 1 + definition.metrics.length
  if (budget.left < 0) throw badField(use.field, `makes more than ${PLANNED_MAX} widgets and metrics`, 'TOO_MANY')
  const parts = Object.fromEntries(PARTS.map((part) => [part, fillIn(definition[part], binding, part)]))
  const inner = (member: 'metrics' | 'widgets', index: number): Pick<TemplateUse, 'field' | 'enclosing'> => ({
    field: `${use.field}.${member}.${index}`,
    enclosing: binding,
  })
  const metrics: { draft: MetricDefinitionDraft; template: Template }[] = []
  for (const [index, reference] of definition.metrics.entries()) {
    metrics.push(await draftFromTemplate(world, actor, { ...reference, ...inner('metrics', index) }))
  }
  const children: WidgetPlan[] = []
  for (const [index, reference] of definition.widgets.entries()) {
    children.push(await planWidget(world, actor, { ...reference, ...inner('widgets', index) }, budget))
  }
  return {
    draft: check(WidgetDraft, { ...parts, type: definition.type }, 'template'),
    layout: definition.layout?.widget_layouts ?? [],
    template,
    metrics,
    children,
  }
}

/** The rows of a plan: the widget, its inner widgets (innermost first), and their metrics. */
export type WidgetRows = {
  readonly widget: WidgetRow
  readonly within: readonly WidgetRow[]
  readonly metrics: readonly MetricDefinitionRow[]
}

/** Builds the rows of a plan; `madeFor` is the record they are created for. */
export async function rowsOf(world: World, actor: Actor, plan: WidgetPlan, madeFor: string): Promise<WidgetRows> {
  const metrics: MetricDefinitionRow[] = []
  for (const metric of plan.metrics) {
    metrics.push({ ...(await newMetricDefinition(world, actor, metric.draft, metric.template)), made_for: madeFor })
  }
  const children: WidgetRows[] = []
  for (const child of plan.children) children.push(await rowsOf(world, actor, child, madeFor))
  const nowMs = world.clock.nowMs()
  const places = childrenByTemplate(
    plan.children,
    children.map(({ widget }) => widget.id),
  )
  const widget: WidgetRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name: plan.draft.name,
    description: plan.draft.description ?? null,
    type: plan.draft.type ?? 'line',
    metric_ids: metrics.map(({ id }) => id),
    widget_ids: children.map(({ widget: { id } }) => id),
    layout: { widget_layouts: fillLayout(plan.layout, places) },
    aux: plan.draft.aux ?? null,
    tags: plan.draft.tags ?? {},
    template: plan.template,
    made_for: madeFor,
    ...createdBy(actor, nowMs),
  }
  return {
    widget,
    within: children.flatMap((child) => [...child.within, child.widget]),
    metrics: [...metrics, ...children.flatMap((child) => child.metrics)],
  }
}

/** The widgets created from each template, in order; a template can occur several times. */
export function childrenByTemplate(plans: readonly WidgetPlan[], ids: readonly string[]): Map<string, string[]> {
  const places = new Map<string, string[]>()
  plans.forEach(({ template }, index) => {
    places.set(template.id, [...(places.get(template.id) ?? []), ids[index] ?? ''])
  })
  return places
}

/** Replaces templates by their widgets in a layout; the second occurrence of a template is its second widget. */
export function fillLayout(layout: readonly WidgetLayout[], places: ReadonlyMap<string, readonly string[]>): WidgetLayout[] {
  const taken = new Map<string, number>()
  return layout.flatMap((place) => {
    const nth = taken.get(place.id) ?? 0
    taken.set(place.id, nth + 1)
    const id = places.get(place.id)?.[nth]
    return id === undefined ? [] : [{ ...place, id }]
  })
}
