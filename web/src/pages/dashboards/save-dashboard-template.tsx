import type { Dashboard, MetricDefinition, Widget } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { readMetrics } from '../../parts/records/metric-list.ts'
import { useClient } from '../../parts/shell/client.ts'
import { saveMetricTemplate } from '../../parts/templates/metric-templates.tsx'
import { SaveAsTemplate } from '../../parts/templates/save-as-template.tsx'
import { readWidgets } from './queries.ts'

/** Saves a dashboard, its widgets and their metrics as templates. */
export function SaveDashboardTemplate({ dashboard }: { dashboard: Dashboard }) {
  const client = useClient()
  return (
    <SaveAsTemplate
      name={dashboard.name}
      kinds={['dashboard', 'widget', 'metric']}
      onSave={(name) => saveDashboardTemplate(client, dashboard, name)}
    >
      Saved. Add parameters in the{' '}
      <Link to="/dashboards" search={{ view: 'templates' }} className="text-accent underline">
        templates
      </Link>
      .
    </SaveAsTemplate>
  )
}

type Client = ReturnType<typeof useClient>

/** Saves dependencies first: metrics, widgets, frames, then the dashboard. */
async function saveDashboardTemplate(client: Client, dashboard: Dashboard, name: string): Promise<void> {
  const widgets = await readWithInner(client, dashboard.widgets)
  const metrics = await readMetrics(
    client,
    [...widgets.values()].flatMap(({ metric_ids }) => metric_ids),
  )
  const known: Known = { metrics: new Map(metrics.map((metric) => [metric.id, metric])), widgets, kept: new Map() }
  const references: { id: string }[] = []
  for (const widget of dashboard.widgets) references.push({ id: await saveWidgetTemplate(client, widget, known) })
  const widget_layouts = (dashboard.layout.widget_layouts ?? []).flatMap(({ id, ...place }) => {
    const own = known.kept.get(id)
    return own ? [{ id: own, ...place }] : []
  })
  await client.dashboardTemplates.create({
    body: {
      name,
      ...(dashboard.description ? { description: dashboard.description } : {}),
      widgets: references,
      layout: { widget_layouts },
      this_template_tags: {},
      tags: dashboard.tags,
    },
  })
}

type Known = {
  metrics: ReadonlyMap<string, MetricDefinition>
  widgets: ReadonlyMap<string, Widget>
  /** The templates that were saved, by the ids of their widgets. */
  kept: Map<string, string>
}

/** Widgets and those inside them, at any depth. */
async function readWithInner(client: Client, first: readonly Widget[]): Promise<ReadonlyMap<string, Widget>> {
  const known = new Map(first.map((widget) => [widget.id, widget]))
  for (let level = first; level.length > 0; ) {
    const ids = level.flatMap(({ widget_ids }) => widget_ids).filter((id) => !known.has(id))
    level = await readWidgets(client, ids)
    for (const widget of level) known.set(widget.id, widget)
  }
  return known
}

async function saveWidgetTemplate(client: Client, widget: Widget, known: Known): Promise<string> {
  const metrics: { id: string }[] = []
  for (const id of widget.metric_ids) {
    const metric = known.metrics.get(id)
    if (metric) metrics.push({ id: await saveMetricTemplate(client, metric) })
  }
  const inner: { id: string }[] = []
  for (const id of widget.widget_ids) {
    const child = known.widgets.get(id)
    if (child) inner.push({ id: await saveWidgetTemplate(client, child, known) })
  }
  const { name, description, type, aux, tags } = widget
  const widget_layouts = widget.layout.widget_layouts.flatMap(({ id, ...place }) => {
    const own = known.kept.get(id)
    return own ? [{ id: own, ...place }] : []
  })
  const { id } = await client.widgetTemplates.create({
    body: {
      name,
      type,
      tags,
      metrics,
      widgets: inner,
      ...(description ? { description } : {}),
      ...(aux ? { aux } : {}),
      ...(widget_layouts.length > 0 ? { layout: { widget_layouts } } : {}),
    },
  })
  known.kept.set(widget.id, id)
  return id
}
