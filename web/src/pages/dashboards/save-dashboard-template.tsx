import type { Dashboard, MetricDefinition, Widget } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { useClient } from '../../parts/shell/client.ts'
import { saveMetricTemplate } from '../../parts/templates/metric-templates.tsx'
import { SaveAsTemplate } from '../../parts/templates/save-as-template.tsx'

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
  const [{ metric_definitions }, { widgets }] = await Promise.all([client.metricDefinitions.list({}), client.widgets.list({})])
  const kept = new Map<string, string>()
  const references: { id: string }[] = []
  for (const widget of dashboard.widgets)
    references.push({ id: await saveWidgetTemplate(client, widget, { metric_definitions, widgets, kept }) })
  const widget_layouts = (dashboard.layout.widget_layouts ?? []).flatMap(({ id, ...place }) => {
    const own = kept.get(id)
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

type Known = { metric_definitions: readonly MetricDefinition[]; widgets: readonly Widget[]; kept: Map<string, string> }

async function saveWidgetTemplate(client: Client, widget: Widget, known: Known): Promise<string> {
  const metrics: { id: string }[] = []
  for (const id of widget.metric_ids) {
    const metric = known.metric_definitions.find((one) => one.id === id)
    if (metric) metrics.push({ id: await saveMetricTemplate(client, metric) })
  }
  const inner: { id: string }[] = []
  for (const id of widget.widget_ids) {
    const child = known.widgets.find((one) => one.id === id)
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
