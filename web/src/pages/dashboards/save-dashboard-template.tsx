import type { Dashboard, MetricDefinition, Widget } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { useClient } from '../../parts/client.ts'
import { keepMetric } from '../../parts/metric-templates.tsx'
import { KeepAsTemplate } from '../../parts/save-as-template.tsx'

/** KeepDashboard keeps a dashboard with its widgets and their metrics as templates, which others are made from. */
export function KeepDashboard({ dashboard }: { dashboard: Dashboard }) {
  const client = useClient()
  return (
    <KeepAsTemplate
      name={dashboard.name}
      kinds={['dashboard', 'widget', 'metric']}
      onKeep={(name) => keepDashboard(client, dashboard, name)}
    >
      Kept. Give it parameters among the{' '}
      <Link to="/dashboards" search={{ view: 'templates' }} className="text-accent underline">
        templates
      </Link>
      .
    </KeepAsTemplate>
  )
}

type Client = ReturnType<typeof useClient>

/** keepDashboard begins with what stands within: metrics, then widgets, then frames, then the dashboard. */
async function keepDashboard(client: Client, dashboard: Dashboard, name: string): Promise<void> {
  const [{ metric_definitions }, { widgets }] = await Promise.all([client.metricDefinitions.list({}), client.widgets.list({})])
  const kept = new Map<string, string>()
  const references: { id: string }[] = []
  for (const widget of dashboard.widgets) references.push({ id: await keepWidget(client, widget, { metric_definitions, widgets, kept }) })
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

async function keepWidget(client: Client, widget: Widget, known: Known): Promise<string> {
  const metrics: { id: string }[] = []
  for (const id of widget.metric_ids) {
    const metric = known.metric_definitions.find((one) => one.id === id)
    if (metric) metrics.push({ id: await keepMetric(client, metric) })
  }
  const inner: { id: string }[] = []
  for (const id of widget.widget_ids) {
    const child = known.widgets.find((one) => one.id === id)
    if (child) inner.push({ id: await keepWidget(client, child, known) })
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
