import type { Dashboard, Widget } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { useState } from 'react'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToDashboard } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { flowed } from './layout.ts'
import { useAllWidgets, useDashboard } from './queries.ts'

type FrameEditorProps = { dashboardId: string; id: string }

/** Edits a frame: a widget that contains other widgets, which then leave the dashboard grid. */
export function FrameEditor({ dashboardId, id }: FrameEditorProps) {
  const dashboard = useDashboard(dashboardId)
  const all = useAllWidgets(true)
  const title = id === 'new' ? 'New frame' : 'Edit frame'
  const frame = all.data?.find((one) => one.id === id)
  if (!dashboard.data || !all.data || (id !== 'new' && !frame)) {
    const of = {
      data: dashboard.data && all.data,
      error: dashboard.error ?? all.error,
      refetch: () => Promise.all([dashboard.refetch(), all.refetch()]),
    }
    return <MissingRecord title={title} noun="frame" of={of} back={<BackToDashboard id={dashboardId} />} />
  }
  return <FrameForm title={title} dashboard={dashboard.data} frame={frame} all={all.data} />
}

const sizes = [
  ['12', 'one'],
  ['6', 'two'],
  ['4', 'three'],
  ['3', 'four'],
] as const
type Wide = (typeof sizes)[number][0]
const HIGH = 3

type FrameFormProps = { title: string; dashboard: Dashboard; frame: Widget | undefined; all: readonly Widget[] }

function FrameForm({ title, dashboard, frame, all }: FrameFormProps) {
  const [name, setName] = useState(frame?.name ?? '')
  const [description, setDescription] = useState(frame?.description ?? '')
  const [inner, setInner] = useState<readonly string[]>(frame?.widget_ids ?? [])
  const [wide, setWide] = useState<Wide>(sizes.find(([one]) => Number(one) === frame?.layout.widget_layouts[0]?.w)?.[0] ?? '6')
  const save = useSaveFrame(dashboard, frame)
  const missing = name.trim() === '' ? 'a name' : inner.length === 0 ? 'a widget in the frame' : undefined
  const send = () => {
    const widget_layouts = flowed(inner.map((id) => ({ id, x: 0, y: 0, w: Number(wide), h: HIGH })))
    save.mutate({ name: name.trim(), description: description.trim(), widget_ids: [...inner], layout: { widget_layouts } })
  }
  return (
    <EditorPage
      title={title}
      action={frame ? 'Save' : 'Add frame'}
      missing={missing}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToDashboard id={dashboard.id} />}
      cancel={
        <Link to="/dashboards" search={({ frame: _frame, ...rest }) => rest}>
          Cancel
        </Link>
      }
      onSend={send}
    >
      <Panel title="General">
        <div className="grid gap-3 p-3 sm:grid-cols-2">
          <Field name="Name">
            <Input value={name} required maxLength={255} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Field name="Widgets per row">
            <Select value={wide} options={sizes} onPick={(next) => setWide(next)} />
          </Field>
          <Field name="Description" className="sm:col-span-2">
            <TextArea value={description} maxLength={1_024} onChange={(event) => setDescription(event.target.value)} />
          </Field>
        </div>
      </Panel>
      <FrameWidgets
        all={all.filter((one) => one.id !== frame?.id && one.widget_ids.length === 0)}
        own={dashboard}
        inner={inner}
        onInner={setInner}
      />
    </EditorPage>
  )
}

type FrameWidgetsProps = { all: readonly Widget[]; own: Dashboard; inner: readonly string[]; onInner(inner: string[]): void }

/** Within selects and orders the widgets of a frame. */
function FrameWidgets({ all, own, inner, onInner }: FrameWidgetsProps) {
  const chosen = inner.flatMap((id) => all.filter((one) => one.id === id))
  const offered = all
    .filter(({ id }) => !inner.includes(id))
    .toSorted((a, b) => Number(own.widget_ids.includes(b.id)) - Number(own.widget_ids.includes(a.id)) || (a.name < b.name ? -1 : 1))
  const swap = (at: number, by: -1 | 1) =>
    onInner(inner.map((id, index) => (index === at ? (inner[at + by] ?? id) : index === at + by ? (inner[at] ?? id) : id)))
  return (
    <Panel title="Widgets in the frame">
      <div className="grid gap-4 p-3 sm:grid-cols-2">
        <div>
          <h3 className="text-soft text-xs">Widgets, in order</h3>
          {chosen.length === 0 && <p className="text-soft">No widgets in the frame yet. Add some below.</p>}
          <ol aria-label="In the frame" className="flex flex-col">
            {chosen.map(({ id, name }, at) => (
              <li key={id} className="flex items-center gap-1 py-0.5">
                <span className="mr-auto min-w-0 truncate">{name}</span>
                <Button size="small" variant="quiet" disabled={at === 0} aria-label={`Move ${name} up`} onClick={() => swap(at, -1)}>
                  <Icon of={ArrowUp} size="small" />
                </Button>
                <Button
                  size="small"
                  variant="quiet"
                  disabled={at === chosen.length - 1}
                  aria-label={`Move ${name} down`}
                  onClick={() => swap(at, 1)}
                >
                  <Icon of={ArrowDown} size="small" />
                </Button>
                <Button
                  size="small"
                  variant="quiet"
                  aria-label={`Remove ${name}`}
                  onClick={() => onInner(inner.filter((one) => one !== id))}
                >
                  <Icon of={X} size="small" />
                </Button>
              </li>
            ))}
          </ol>
        </div>
        <div>
          <h3 className="text-soft text-xs">Other widgets, those of this dashboard first</h3>
          {offered.length === 0 && <p className="text-soft">No other widgets.</p>}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard too */}
          <ul tabIndex={0} aria-label="Other widgets" className="max-h-80 overflow-auto">
            {offered.map(({ id, name }) => (
              <li key={id} className="flex items-center gap-2 py-0.5">
                <Button size="small" aria-label={`Add ${name}`} onClick={() => onInner([...inner, id])}>
                  <Icon of={Plus} size="small" />
                </Button>
                <span className="min-w-0 truncate">{name}</span>
                {!own.widget_ids.includes(id) && <span className="shrink-0 text-soft text-xs">on another dashboard</span>}
              </li>
            ))}
          </ul>
        </div>
      </div>
    </Panel>
  )
}

type FrameBody = { name: string; description: string; widget_ids: string[]; layout: { widget_layouts: ReturnType<typeof flowed> } }

function useSaveFrame(dashboard: Dashboard, frame: Widget | undefined) {
  const client = useClient()
  const navigate = useNavigate()
  const params = { dashboardId: dashboard.id }
  return useSave(
    async (body: FrameBody) => {
      const { widget_ids } = body
      const remove_widget_ids = widget_ids.filter((id) => dashboard.widget_ids.includes(id))
      if (!frame) {
        const created = await client.widgets.create({ body })
        await client.dashboards.change({ params, body: { append_widget_ids: [created.id], remove_widget_ids } })
        return
      }
      const { type, tags, aux } = frame
      await client.widgets.update({ params: { widgetId: frame.id }, body: { ...body, type, tags, ...(aux ? { aux } : {}) } })
      // Removed widgets return to the dashboard; added ones leave it.
      const out = frame.widget_ids.filter((id) => !widget_ids.includes(id))
      await client.dashboards.change({ params, body: { append_widget_ids: out, remove_widget_ids } })
    },
    {
      stale: [['dashboards'], ['widgets'], ['widget data']],
      onSaved: () => navigate({ to: '/dashboards', search: ({ frame: _frame, ...rest }) => rest }),
    },
  )
}
