import type { MetricDefinition, MetricQuery, Widget } from '@dendro/api'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { askedRangeOf, rangeOf } from '../../parts/asked-range.ts'
import { useClient } from '../../parts/client.ts'
import { useDatasets } from '../../parts/datasets.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { newQuery, tidied } from '../../parts/metric-queries.ts'
import { Page, Panel, Waiting } from '../../parts/page.tsx'
import { QueryEditor } from '../../parts/query-editor.tsx'
import { boundsOf, gridOf, type Range } from '../../parts/time-range.ts'
import { useZone } from '../../parts/zone.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import type { Asked } from './asked.ts'
import { Figure } from './figure.tsx'
import { useDashboard } from './questions.ts'

const kinds = [
  ['line', 'Lines'],
  ['area', 'Areas, piled up'],
  ['bar', 'Bars, piled up'],
  ['top-list', 'Top list'],
  ['score', 'One number'],
  ['pie', 'Shares of a whole'],
  ['treemap', 'Tiles'],
] as const satisfies readonly (readonly [Widget['type'], string])[]

type Draft = { name: string; description: string; type: Widget['type']; queries: MetricQuery[]; formula: string; kept: readonly string[] }

const fresh: Draft = { name: '', description: '', type: 'line', queries: [newQuery('a')], formula: '', kept: [] }

type WidgetEditorProps = { dashboardId: string; id: string; asked: Asked }

/** WidgetEditor writes a widget beside what it shows: of queries of its own, or of metrics that are kept. */
export function WidgetEditor({ dashboardId, id, asked }: WidgetEditorProps) {
  const dashboard = useDashboard(dashboardId)
  const client = useClient()
  const metrics = useQuery({
    queryKey: ['metric definitions'],
    queryFn: async ({ signal }) => (await client.metricDefinitions.list({ signal })).metric_definitions,
  })
  const failure = dashboard.error ?? metrics.error
  const title = id === 'new' ? 'New widget' : 'Edit a widget'
  if (failure || !dashboard.data || !metrics.data) {
    return (
      <Page title={title}>
        {failure ? <FailureNote thrown={failure} again={() => dashboard.refetch()} /> : <Waiting>Reading …</Waiting>}
      </Page>
    )
  }
  const widget = dashboard.data.widgets.find((one) => one.id === id)
  const own = widget?.metric_ids.length === 1 ? metrics.data.find((one) => one.id === widget.metric_ids[0]) : undefined
  const first = widget ? draftOf(widget, own) : fresh
  return (
    <Writing
      first={first}
      widget={widget}
      own={own}
      metrics={metrics.data}
      dashboardId={dashboardId}
      range={rangeOf(asked, { words: 'Last 1 hour' })}
      title={title}
    />
  )
}

const draftOf = ({ name, description, type, metric_ids }: Widget, own: MetricDefinition | undefined): Draft => ({
  name,
  description: description ?? '',
  type,
  queries: own?.queries ?? [newQuery('a')],
  formula: own?.formulas?.[0]?.expression ?? '',
  kept: own ? [] : metric_ids,
})

const definitionOf = ({ name, queries, formula }: Draft) => ({
  ...(name.trim() === '' ? {} : { name: name.trim() }),
  queries: tidied(queries),
  ...(formula.trim() === '' ? {} : { formulas: [{ name: 'formula', expression: formula.trim() }] }),
})

type WritingProps = {
  first: Draft
  widget: Widget | undefined
  own: MetricDefinition | undefined
  metrics: readonly MetricDefinition[]
  dashboardId: string
  range: Range
  title: string
}

function Writing({ first, widget, own, metrics, dashboardId, range, title }: WritingProps) {
  const [draft, setDraft] = useState(first)
  const [isKept, setKept] = useState(first.kept.length > 0)
  const datasets = useDatasets()
  const set = (change: Partial<Draft>) => setDraft((now) => ({ ...now, ...change }))
  const save = useSave({ widget, own, dashboardId, range })
  const isWhole = draft.name.trim() !== '' && (!isKept || draft.kept.length > 0)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (isWhole) save.mutate(isKept ? draft : { ...draft, kept: [] })
  }
  return (
    <Page title={title}>
      <form onSubmit={send} className="grid items-start gap-4 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="How it looks">
            <div className="grid gap-3 p-3 sm:grid-cols-2">
              <Field name="Name">
                <Input value={draft.name} required maxLength={255} onChange={(event) => set({ name: event.target.value })} />
              </Field>
              <Field name="Shown as">
                <Select value={draft.type} options={kinds} onPick={(type) => set({ type })} />
              </Field>
              <Field name="Description" className="sm:col-span-2">
                <TextArea value={draft.description} maxLength={1_024} onChange={(event) => set({ description: event.target.value })} />
              </Field>
            </div>
          </Panel>
          <Panel
            title="What it shows"
            actions={
              metrics.length > 0 && (
                <Button size="small" look="quiet" onClick={() => setKept(!isKept)}>
                  {isKept ? 'Write a query' : 'Choose kept metrics'}
                </Button>
              )
            }
          >
            <div className="p-3">
              {isKept ? (
                <Kept metrics={metrics} kept={draft.kept} onKept={(kept) => set({ kept })} />
              ) : (
                <QueryEditor
                  queries={draft.queries}
                  formula={draft.formula}
                  datasets={datasets.data?.datasets ?? []}
                  onQueries={(queries) => set({ queries })}
                  onFormula={(formula) => set({ formula })}
                />
              )}
            </div>
          </Panel>
          {save.error && <FailureNote thrown={save.error} />}
          <div className="flex items-center gap-2">
            <Button type="submit" look="main" disabled={!isWhole || save.isPending}>
              {save.isPending ? 'Saving …' : widget ? 'Save' : 'Add the widget'}
            </Button>
            <Link to="/dashboards" search={{ id: dashboardId, ...askedRangeOf(range) }} className="px-2 text-accent hover:underline">
              Leave it
            </Link>
          </div>
        </div>
        <Panel title="What that is">
          <div className="p-3">
            {isKept ? <p className="text-soft">Kept metrics are shown on the dashboard.</p> : <Preview draft={draft} range={range} />}
          </div>
        </Panel>
      </form>
    </Page>
  )
}

function Kept({ metrics, kept, onKept }: { metrics: readonly MetricDefinition[]; kept: readonly string[]; onKept(kept: string[]): void }) {
  return (
    <ul className="max-h-80 overflow-auto">
      {metrics.map(({ id, name, queries }) => (
        <li key={id}>
          <label className="flex items-center gap-2 py-0.5">
            <input
              type="checkbox"
              checked={kept.includes(id)}
              onChange={() => onKept(kept.includes(id) ? kept.filter((one) => one !== id) : [...kept, id])}
            />
            <span className="truncate">{name ?? queries.map((query) => `${query.select[0]} ${query.where}`).join('; ')}</span>
          </label>
        </li>
      ))}
    </ul>
  )
}

const SETTLE_MS = 500

function Preview({ draft, range }: { draft: Draft; range: Range }) {
  const client = useClient()
  const [zone] = useZone()
  const wanted = JSON.stringify(definitionOf({ ...draft, name: '' }))
  const [settled, setSettled] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const data = useQuery({
    queryKey: ['widget preview', settled, range, draft.type === 'score'],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const grid = gridOf(boundsOf(range, Date.now()), 120)
      return client.timeseries.search({
        body: {
          ...(JSON.parse(settled) as ReturnType<typeof definitionOf>),
          time_range: { from_ts: grid.fromMs, to_ts: grid.toMs },
          num_of_slices: grid.slices,
          limit: 50,
          delta: { enabled: draft.type === 'score' },
        },
        signal,
        repeatable: true,
      })
    },
  })
  if (data.error) return <FailureNote thrown={data.error} again={() => data.refetch()} />
  if (!data.data) return <Waiting height="16rem">Measuring …</Waiting>
  const all = Object.values(data.data)
  const formulas = all.filter((one) => (one.formulas ?? []).length > 0)
  return (
    <Figure
      type={draft.type}
      label="Preview"
      measured={formulas.length > 0 ? formulas : all}
      height={260}
      zone={zone}
      bands={[]}
      isOld={data.isFetching || settled !== wanted}
    />
  )
}

function useSave({ widget, own, dashboardId, range }: Pick<WritingProps, 'widget' | 'own' | 'dashboardId' | 'range'>) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async (draft: Draft) => {
      const metric_ids = draft.kept.length > 0 ? [...draft.kept] : [await keepMetric(draft)]
      const { type } = draft
      const name = draft.name.trim()
      const description = draft.description.trim()
      if (widget) {
        await client.widgets.change({ params: { widgetId: widget.id }, body: { name, type, metric_ids, description } })
        return
      }
      const made = await client.widgets.create({ body: { name, type, metric_ids, ...(description === '' ? {} : { description }) } })
      await client.dashboards.addWidgets({ params: { dashboardId }, body: { widget_ids: [made.id] } })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['dashboards'] })
      await queries.invalidateQueries({ queryKey: ['metric definitions'] })
      await queries.invalidateQueries({ queryKey: ['widget data'] })
      await navigate({ to: '/dashboards', search: { id: dashboardId, ...askedRangeOf(range) } })
    },
  })

  /** keepMetric writes the queries down: into the metric the widget has, or into a new one. */
  async function keepMetric(draft: Draft): Promise<string> {
    const body = definitionOf(draft)
    if (!own) return (await client.metricDefinitions.create({ body })).id
    await client.metricDefinitions.update({ params: { metricId: own.id }, body })
    return own.id
  }
}
