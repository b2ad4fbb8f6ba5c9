import type { MetricDefinition } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newQuery } from '../../parts/query/metric-queries.ts'
import { QueryEditor } from '../../parts/query/query-editor.tsx'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { useMetric } from '../../parts/records/metric-list.ts'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { definitionOf, Preview } from './preview.tsx'

/** Edits a named metric beside its preview. */
export function MetricEditor({ id }: { id: string }) {
  const metric = useMetric(id === 'new' ? undefined : id)
  if (id === 'new') return <MetricForm title="New metric" metric={undefined} />
  if (metric.data) return <MetricForm title="Edit metric" metric={metric.data} />
  return <MissingRecord title="Edit metric" noun="metric" of={metric} back={<BackToDashboards view="metrics" />} />
}

const DEFAULT_STYLE = { unit: 'auto', isFine: false } as const

function MetricForm({ title, metric }: { title: string; metric: MetricDefinition | undefined }) {
  const [name, setName] = useState(metric?.name ?? '')
  const [description, setDescription] = useState(metric?.description ?? '')
  const [queries, setQueries] = useState(metric?.queries ?? [newQuery('a')])
  const [formula, setFormula] = useState(metric?.formulas?.[0]?.expression ?? '')
  const save = useSaveMetric(metric)
  return (
    <EditorPage
      title={title}
      action={metric ? 'Save' : 'Create metric'}
      needs="dashboards_write"
      missing={name.trim() === '' ? 'a name' : undefined}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToDashboards view="metrics" />}
      cancel={
        <Link to="/dashboards" search={{ view: 'metrics' }}>
          Cancel
        </Link>
      }
      onSend={() => save.mutate({ name: name.trim(), description: description.trim(), ...definitionOf(queries, formula) })}
      preview={
        <Panel title="Preview">
          <div className="p-3">
            <Preview type="line" style={DEFAULT_STYLE} queries={queries} formula={formula} range={{ words: 'Last 1 hour' }} />
          </div>
        </Panel>
      }
    >
      <Panel title="General">
        <div className="flex flex-col gap-3 p-3">
          <Field name="Name">
            <Input value={name} required maxLength={255} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Field name="Description">
            <TextArea value={description} maxLength={1_000} onChange={(event) => setDescription(event.target.value)} />
          </Field>
        </div>
      </Panel>
      <Panel title="Query">
        <div className="p-3">
          <QueryEditor queries={queries} formula={formula} onQueries={setQueries} onFormula={setFormula} />
        </div>
      </Panel>
    </EditorPage>
  )
}

type MetricBody = { name: string; description: string } & ReturnType<typeof definitionOf>

function useSaveMetric(metric: MetricDefinition | undefined) {
  const client = useClient()
  const navigate = useNavigate()
  const send = (body: MetricBody) =>
    metric ? client.metricDefinitions.update({ params: { metricId: metric.id }, body }) : client.metricDefinitions.create({ body })
  return useSave(send, {
    stale: [['metric definitions'], ['widget data']],
    onSaved: () => navigate({ to: '/dashboards', search: { view: 'metrics' } }),
  })
}
