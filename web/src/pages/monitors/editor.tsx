import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { QueryEditor } from '../../parts/query/query-editor.tsx'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { useFirstTargets } from '../../parts/records/first-targets.ts'
import { useMetric } from '../../parts/records/metric-list.ts'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToMonitors } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Loading, Page, Panel } from '../../parts/shell/page.tsx'
import { rangeOf } from '../../parts/time/range-params.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { bodyOf, draftFromMetric, draftOf, type MonitorFormState, newDraft, ruleOf, silenceDraft, windowFor } from './draft.ts'
import { NotificationFields } from './notification-fields.tsx'
import type { MonitorParams } from './params.ts'
import { Preview } from './preview.tsx'
import { useMonitor } from './queries.ts'
import { RuleFields } from './rule-fields.tsx'

type EditorProps = { params: MonitorParams; id: string | undefined }

/** Edits a monitor beside a backtest of the last days; a new one starts with the query it came from. */
export function MonitorEditor({ params, id }: EditorProps) {
  const monitor = useMonitor(id ?? params.of)
  const metric = useMetric(id === undefined && params.of === undefined ? params.metric : undefined)
  const targets = useFirstTargets()
  if (id === undefined && params.of === undefined) {
    const range = params.r === undefined && params.f === undefined ? undefined : rangeOf(params, { words: 'Last 5 minutes' })
    const { window, note } = windowFor(range, Date.now())
    if (!targets)
      return (
        <Page title="New monitor" back={<BackToMonitors />}>
          <Loading />
        </Page>
      )
    if (params.silent !== undefined)
      return <MonitorForm first={silenceDraft(params, params.silent, window, targets)} id={undefined} title="New monitor" />
    if (params.metric === undefined)
      return <MonitorForm first={newDraft(params, window, targets)} id={undefined} title="New monitor" windowNote={note} />
    if (!metric.data) return <MissingRecord title="New monitor" noun="metric" of={metric} back={<BackToMonitors />} />
    return (
      <MonitorForm first={draftFromMetric(metric.data, params, window, targets)} id={undefined} title="New monitor" windowNote={note} />
    )
  }
  if (monitor.data) {
    const { name } = monitor.data
    const draft = draftOf(monitor.data)
    if (id === undefined) return <MonitorForm first={{ ...draft, name: `${name} (copy)` }} id={undefined} title={`Copy of ${name}`} />
    return <MonitorForm first={draft} id={id} title={`Edit ${name}`} />
  }
  return <MissingRecord title={id === undefined ? 'Copy monitor' : 'Edit monitor'} noun="monitor" of={monitor} back={<BackToMonitors />} />
}

type MonitorFormProps = { first: MonitorFormState; id: string | undefined; title: string; windowNote?: string | undefined }

function MonitorForm({ first, id, title, windowNote }: MonitorFormProps) {
  const [draft, setDraft] = useState(first)
  const rule = useMemo(() => ruleOf(draft), [draft])
  const body = bodyOf(draft)
  const set = (change: Partial<MonitorFormState>) => setDraft((now) => ({ ...now, ...change }))
  const save = useSaveMonitor(id)
  return (
    <EditorPage
      title={title}
      action={id === undefined ? 'Create monitor' : 'Save'}
      needs="monitors_write"
      missing={body ? undefined : missing(draft)}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToMonitors />}
      cancel={
        <Link to="/monitors" search={id === undefined ? {} : { id }}>
          Cancel
        </Link>
      }
      onSend={() => body && save.mutate(body)}
      preview={<Preview rule={rule} onThreshold={(threshold) => set({ threshold: String(threshold) })} />}
    >
      <Panel title="Query and threshold">
        <div className="flex flex-col gap-3 p-3">
          <QueryEditor
            queries={draft.queries}
            formula={draft.formula}
            onQueries={(queries) => set({ queries })}
            onFormula={(formula) => set({ formula })}
          />
          <RuleFields draft={draft} windowNote={draft.window === first.window ? windowNote : undefined} onChange={set} />
        </div>
      </Panel>
      <Panel title="Name" actions={<Suggest draft={draft} onSuggest={set} />}>
        <div className="flex flex-col gap-3 p-3">
          <Field name="Name">
            <Input value={draft.name} maxLength={255} required onChange={(event) => set({ name: event.target.value })} />
          </Field>
          <Field name="Description" help="Part of every notification: what the alert means, and what to do.">
            <TextArea value={draft.description} maxLength={4_000} onChange={(event) => set({ description: event.target.value })} />
          </Field>
        </div>
      </Panel>
      <NotificationFields draft={draft} onChange={set} />
    </EditorPage>
  )
}

function missing(draft: MonitorFormState): string {
  if (ruleOf(draft) === undefined) return 'a measure and a numeric threshold'
  return draft.name.trim() === '' ? 'a name' : 'a recipient'
}

function useSaveMonitor(id: string | undefined) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const send = async (body: NonNullable<ReturnType<typeof bodyOf>>) => {
    const monitor = await (id === undefined
      ? client.monitors.create({ body })
      : client.monitors.update({ params: { monitorId: id }, body }))
    queries.setQueryData(['monitors', monitor.id], monitor)
    return monitor
  }
  return useSave(send, {
    stale: [['monitors']],
    // Back then leads to where the monitor came from, not to a form that would create it again.
    onSaved: (monitor) => navigate({ to: '/monitors', search: { id: monitor.id }, replace: id === undefined }),
  })
}

/** Suggest proposes a name and a description for the query. */
function Suggest({ draft, onSuggest }: { draft: MonitorFormState; onSuggest(change: Partial<MonitorFormState>): void }) {
  const client = useClient()
  const suggest = useMutation({
    mutationFn: () => {
      const rule = ruleOf(draft)
      return client.notifications.suggest({
        body: {
          monitor_context: rule
            ? {
                threshold: rule.threshold,
                comparison_operator: rule.comparison_operator,
                queries: rule.queries,
                ...(rule.formulas ? { formulas: rule.formulas } : {}),
              }
            : {},
        },
      })
    },
    onSuccess: ({ suggestions: [one] }) =>
      onSuggest({
        ...(one?.name ? { name: one.name } : {}),
        ...(one?.description && draft.description === '' ? { description: one.description } : {}),
      }),
  })
  return (
    <>
      {suggest.error && <span className="text-error text-xs">{suggest.error.message}</span>}
      <Button size="small" disabled={suggest.isPending} onClick={() => suggest.mutate()}>
        {suggest.isPending ? 'Working…' : 'Suggest'}
      </Button>
    </>
  )
}
