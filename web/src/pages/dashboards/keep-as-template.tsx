import type { Dashboard, MetricDefinition, Widget } from '@dendro/api'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'

/** KeepAsTemplate keeps a dashboard with its widgets and their metrics as templates, which others are made from. */
export function KeepAsTemplate({ dashboard }: { dashboard: Dashboard }) {
  const client = useClient()
  const queries = useQueryClient()
  const [name, setName] = useState(dashboard.name)
  const keep = useMutation({
    mutationFn: () => keepDashboard(client, dashboard, name.trim()),
    onSuccess: async () => {
      for (const kind of ['dashboard', 'widget', 'metric']) await queries.invalidateQueries({ queryKey: [`${kind} templates`] })
    },
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    keep.mutate()
  }
  return (
    <Popover label="Keep as template" trigger={<Button>Keep as template</Button>}>
      <form onSubmit={send} className="flex w-72 max-w-full flex-col gap-2">
        <Field name="Name of the template">
          <Input value={name} required maxLength={255} onChange={(event) => setName(event.target.value)} />
        </Field>
        {keep.isSuccess ? (
          <p role="status">
            Kept. Give it parameters among the{' '}
            <Link to="/dashboards" search={{ view: 'templates' }} className="text-accent underline">
              templates
            </Link>
            .
          </p>
        ) : (
          <Button type="submit" look="main" disabled={keep.isPending || name.trim() === ''}>
            {keep.isPending ? 'Keeping it …' : 'Keep it'}
          </Button>
        )}
        {keep.error && <FailureNote thrown={keep.error} />}
      </form>
    </Popover>
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

async function keepMetric(client: Client, { name, description, queries, formulas }: MetricDefinition): Promise<string> {
  const body = {
    name: name ?? queries[0]?.name ?? 'metric',
    description: description ?? '',
    queries: queries.map(({ id: _id, ...query }) => query),
    ...(formulas && formulas.length > 0 ? { formulas } : {}),
  }
  return (await client.metricDefinitionTemplates.create({ body })).id
}
