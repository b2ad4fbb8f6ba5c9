import type { MetricDefinition, MetricQuery, Widget } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type Unit, units } from '../../parts/chart/unit.ts'
import { newQuery } from '../../parts/query/metric-queries.ts'
import { QueryEditor } from '../../parts/query/query-editor.tsx'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { useMetricsById } from '../../parts/records/metric-list.ts'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToDashboard } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import type { Range } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import type { DashboardParams } from './params.ts'
import { definitionOf, Preview } from './preview.tsx'
import { useDashboard } from './queries.ts'
import { SavedMetrics } from './saved-metrics.tsx'
import { auxOf, styleOf, type WidgetStyle, widgetTypes } from './widget-style.ts'

type Draft = {
  name: string
  description: string
  type: Widget['type']
  style: WidgetStyle
  queries: MetricQuery[]
  formula: string
  kept: readonly string[]
}

const fresh: Draft = {
  name: '',
  description: '',
  type: 'line',
  style: { unit: 'auto', isFine: false },
  queries: [newQuery('a')],
  formula: '',
  kept: [],
}

type WidgetEditorProps = { dashboardId: string; id: string; params: DashboardParams }

/** Edits a widget beside its preview, with its own queries or saved metrics. */
export function WidgetEditor({ dashboardId, id, params }: WidgetEditorProps) {
  const dashboard = useDashboard(dashboardId)
  const title = id === 'new' ? 'New widget' : 'Edit widget'
  const widget = dashboard.data?.widgets.find((one) => one.id === id)
  const metrics = useMetricsById(widget?.metric_ids ?? [])
  if (!dashboard.data || !metrics.data || (id !== 'new' && !widget)) {
    const of = {
      data: dashboard.data && metrics.data,
      error: dashboard.error ?? metrics.error,
      refetch: () => Promise.all([dashboard.refetch(), metrics.refetch()]),
    }
    return <MissingRecord title={title} noun="widget" of={of} back={<BackToDashboard id={dashboardId} />} />
  }
  const stored = metrics.data
  const known = (widget?.metric_ids ?? []).flatMap((id) => stored.find((one) => one.id === id) ?? [])
  const own = widget?.metric_ids.length === 1 ? known[0] : undefined
  const first = widget ? draftOf(widget, own) : fresh
  return (
    <WidgetForm
      first={first}
      widget={widget}
      own={own}
      metrics={known}
      dashboardId={dashboardId}
      into={params.into}
      range={rangeOf(params, { words: 'Last 1 hour' })}
      title={title}
    />
  )
}

const draftOf = (widget: Widget, own: MetricDefinition | undefined): Draft => ({
  name: widget.name,
  description: widget.description ?? '',
  type: widget.type,
  style: styleOf(widget),
  queries: own?.queries ?? [newQuery('a')],
  formula: own?.formulas?.[0]?.expression ?? '',
  kept: own ? [] : widget.metric_ids,
})

type WidgetFormProps = {
  first: Draft
  widget: Widget | undefined
  own: MetricDefinition | undefined
  /** The metrics of the widget as it is stored, in order. */
  metrics: readonly MetricDefinition[]
  dashboardId: string
  into: string | undefined
  range: Range
  title: string
}

function WidgetForm({ first, widget, own, metrics, dashboardId, into, range, title }: WidgetFormProps) {
  const [draft, setDraft] = useState(first)
  const [isKept, setKept] = useState(first.kept.length > 0)
  const set = (change: Partial<Draft>) => setDraft((now) => ({ ...now, ...change }))
  const save = useSaveWidget({ widget, own, dashboardId, into, range })
  const missing = draft.name.trim() === '' ? 'a name' : isKept && draft.kept.length === 0 ? 'a metric' : undefined
  return (
    <EditorPage
      title={title}
      action={widget ? 'Save' : 'Add widget'}
      needs="dashboards_write"
      missing={missing}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToDashboard id={dashboardId} range={range} />}
      cancel={
        <Link to="/dashboards" search={{ id: dashboardId, ...rangeParamsOf(range) }}>
          Cancel
        </Link>
      }
      onSend={() => save.mutate(isKept ? draft : { ...draft, kept: [] })}
      preview={
        <Panel title="Preview">
          <div className="p-3">
            {isKept ? <p className="text-soft">Saved metrics have no preview; see the dashboard.</p> : <Preview {...draft} range={range} />}
          </div>
        </Panel>
      }
    >
      <StyleFields draft={draft} onChange={set} />
      <Panel
        title="Metrics"
        actions={
          <Button size="small" variant="quiet" onClick={() => setKept(!isKept)}>
            {isKept ? 'Write a query' : 'Use saved metrics'}
          </Button>
        }
      >
        <div className="p-3">
          {isKept ? (
            <SavedMetrics known={metrics} kept={draft.kept} onPickMetrics={(kept) => set({ kept })} />
          ) : (
            <QueryEditor
              queries={draft.queries}
              formula={draft.formula}
              onQueries={(queries) => set({ queries })}
              onFormula={(formula) => set({ formula })}
            />
          )}
        </div>
      </Panel>
    </EditorPage>
  )
}

const unitNames: Record<Unit, string> = {
  number: 'numbers',
  bytes: 'bytes',
  milliseconds: 'milliseconds',
  seconds: 'seconds',
  percent: 'percent',
}
const offeredUnits = [
  ['auto', 'automatic'],
  ...units.map((unit) => [unit, unitNames[unit]] as const),
] as const satisfies readonly (readonly [WidgetStyle['unit'], string])[]
const isOverTime = (type: Widget['type']): boolean => type === 'line' || type === 'area' || type === 'bar'

function StyleFields({ draft, onChange }: { draft: Draft; onChange(change: Partial<Draft>): void }) {
  const { name, type, style, description } = draft
  return (
    <Panel title="Display">
      <div className="grid gap-3 p-3 sm:grid-cols-2">
        <Field name="Name">
          <Input value={name} required maxLength={255} onChange={(event) => onChange({ name: event.target.value })} />
        </Field>
        <Field name="Visualization">
          <Select value={type} options={widgetTypes} onPick={(next) => onChange({ type: next })} />
        </Field>
        <Field name="Unit">
          <Select value={style.unit} options={offeredUnits} onPick={(unit) => onChange({ style: { ...style, unit } })} />
        </Field>
        {isOverTime(type) && (
          <Field name="Resolution">
            <Select
              value={style.isFine ? 'fine' : 'usual'}
              options={[
                ['usual', 'up to 120'],
                ['fine', 'up to 720'],
              ]}
              onPick={(steps) => onChange({ style: { ...style, isFine: steps === 'fine' } })}
            />
          </Field>
        )}
        {isOverTime(type) && (
          <>
            <LevelField name="Alert line" value={style.alert} onLevel={(alert) => onChange({ style: { ...style, alert } })} />
            <LevelField name="Warning line" value={style.warning} onLevel={(warning) => onChange({ style: { ...style, warning } })} />
          </>
        )}
        <Field name="Description" className="sm:col-span-2">
          <TextArea value={description} maxLength={1_024} onChange={(event) => onChange({ description: event.target.value })} />
        </Field>
      </div>
    </Panel>
  )
}

type LevelFieldProps = { name: string; value: number | undefined; onLevel(value: number | undefined): void }

/** Edits a threshold that the chart shows as a line; an empty one is none. */
const LevelField = ({ name, value, onLevel }: LevelFieldProps) => (
  <Field name={name}>
    <Input
      type="number"
      step="any"
      placeholder="none"
      defaultValue={value}
      onChange={(event) => onLevel(event.target.value === '' ? undefined : event.target.valueAsNumber)}
    />
  </Field>
)

function useSaveWidget({
  widget,
  own,
  dashboardId,
  into,
  range,
}: Pick<WidgetFormProps, 'widget' | 'own' | 'dashboardId' | 'into' | 'range'>) {
  const client = useClient()
  const navigate = useNavigate()
  return useSave(
    async (draft: Draft) => {
      const metric_ids = draft.kept.length > 0 ? [...draft.kept] : [await saveMetric(draft)]
      const { type } = draft
      const aux = auxOf(draft.style, widget?.aux)
      const name = draft.name.trim()
      const description = draft.description.trim()
      if (widget) {
        await client.widgets.change({ params: { widgetId: widget.id }, body: { name, type, metric_ids, description, aux } })
        return
      }
      const created = await client.widgets.create({ body: { name, type, metric_ids, aux, ...(description === '' ? {} : { description }) } })
      if (into) await client.widgets.addWidgets({ params: { widgetId: into }, body: { widget_ids: [created.id] } })
      else await client.dashboards.addWidgets({ params: { dashboardId }, body: { widget_ids: [created.id] } })
    },
    {
      stale: [['dashboards'], ['widgets'], ['metric definitions'], ['widget data']],
      onSaved: () => navigate({ to: '/dashboards', search: { id: dashboardId, ...rangeParamsOf(range) } }),
    },
  )

  /** keepMetric saves the queries as the metric of the widget, or as a new one. */
  async function saveMetric(draft: Draft): Promise<string> {
    const body = { name: draft.name.trim(), ...definitionOf(draft.queries, draft.formula) }
    if (!own) return (await client.metricDefinitions.create({ body })).id
    await client.metricDefinitions.update({ params: { metricId: own.id }, body })
    return own.id
  }
}
