import type { Dashboard, Widget } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { useState } from 'react'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { hasWords } from '../../parts/records/has-words.ts'
import { MorePages } from '../../parts/records/pages.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToDashboard } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { flowed } from './layout.ts'
import { useDashboard, useFrame, useWidgetSearch, widgetText } from './queries.ts'

type FrameEditorProps = { dashboardId: string; id: string }

/** Edits a frame: a widget that contains other widgets, which then leave the dashboard grid. */
export function FrameEditor({ dashboardId, id }: FrameEditorProps) {
  const dashboard = useDashboard(dashboardId)
  const isNew = id === 'new'
  const frame = useFrame(isNew ? undefined : id)
  const title = isNew ? 'New frame' : 'Edit frame'
  if (!dashboard.data || (!isNew && !frame.data)) {
    const of = {
      data: undefined,
      error: dashboard.error ?? frame.error,
      refetch: () => Promise.all([dashboard.refetch(), ...(isNew ? [] : [frame.refetch()])]),
    }
    return <MissingRecord title={title} noun="frame" of={of} back={<BackToDashboard id={dashboardId} />} />
  }
  return <FrameForm title={title} dashboard={dashboard.data} frame={frame.data?.frame} first={frame.data?.inner ?? NONE} />
}

const NONE: readonly never[] = []

const sizes = [
  ['12', 'one'],
  ['6', 'two'],
  ['4', 'three'],
  ['3', 'four'],
] as const
type Wide = (typeof sizes)[number][0]
const HIGH = 3

/** `first` are the widgets in the frame as it is stored. */
type FrameFormProps = { title: string; dashboard: Dashboard; frame: Widget | undefined; first: readonly Widget[] }

function FrameForm({ title, dashboard, frame, first }: FrameFormProps) {
  const [name, setName] = useState(frame?.name ?? '')
  const [description, setDescription] = useState(frame?.description ?? '')
  const [inner, setInner] = useState(() => (frame?.widget_ids ?? []).flatMap((id) => first.filter((one) => one.id === id)))
  const [wide, setWide] = useState<Wide>(sizes.find(([one]) => Number(one) === frame?.layout.widget_layouts[0]?.w)?.[0] ?? '6')
  const save = useSaveFrame(dashboard, frame)
  const missing = name.trim() === '' ? 'a name' : inner.length === 0 ? 'a widget in the frame' : undefined
  const send = () => {
    const widget_layouts = flowed(inner.map(({ id }) => ({ id, x: 0, y: 0, w: Number(wide), h: HIGH })))
    save.mutate({ name: name.trim(), description: description.trim(), widget_ids: inner.map(({ id }) => id), layout: { widget_layouts } })
  }
  return (
    <EditorPage
      title={title}
      action={frame ? 'Save' : 'Add frame'}
      needs="dashboards_write"
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
      <FrameWidgets own={[...first, ...dashboard.widgets]} inner={inner} onInner={setInner} />
    </EditorPage>
  )
}

/** `own` are the widgets of the dashboard and of the frame. */
type FrameWidgetsProps = { own: readonly Widget[]; inner: readonly Widget[]; onInner(inner: Widget[]): void }

/** Selects and orders the widgets of a frame. */
const FrameWidgets = ({ own, inner, onInner }: FrameWidgetsProps) => (
  <Panel title="Widgets in the frame">
    <div className="grid gap-4 p-3 sm:grid-cols-2">
      <Chosen inner={inner} onInner={onInner} />
      <Offered own={own} inner={inner} onAdd={(widget) => onInner([...inner, widget])} />
    </div>
  </Panel>
)

function Chosen({ inner, onInner }: Omit<FrameWidgetsProps, 'own'>) {
  const swap = (at: number, by: -1 | 1) =>
    onInner(inner.map((one, index) => (index === at ? (inner[at + by] ?? one) : index === at + by ? (inner[at] ?? one) : one)))
  return (
    <div className="min-w-0">
      <h3 className="text-soft text-xs">Widgets, in order</h3>
      {inner.length === 0 && <p className="text-soft">No widgets in the frame yet. Add some of the others.</p>}
      <ol aria-label="In the frame" className="flex flex-col">
        {inner.map(({ id, name }, at) => (
          <li key={id} className="flex items-center gap-1 py-0.5">
            <span className="mr-auto min-w-0 truncate">{name}</span>
            <Button size="small" variant="quiet" disabled={at === 0} aria-label={`Move ${name} up`} onClick={() => swap(at, -1)}>
              <Icon of={ArrowUp} size="small" />
            </Button>
            <Button
              size="small"
              variant="quiet"
              disabled={at === inner.length - 1}
              aria-label={`Move ${name} down`}
              onClick={() => swap(at, 1)}
            >
              <Icon of={ArrowDown} size="small" />
            </Button>
            <Button
              size="small"
              variant="quiet"
              aria-label={`Remove ${name}`}
              onClick={() => onInner(inner.filter((one) => one.id !== id))}
            >
              <Icon of={X} size="small" />
            </Button>
          </li>
        ))}
      </ol>
    </div>
  )
}

type OfferedProps = { own: readonly Widget[]; inner: readonly Widget[]; onAdd(widget: Widget): void }

/** The widgets that may be added: those of the dashboard, then all others, which are found by a search. */
function Offered({ own, inner, onAdd }: OfferedProps) {
  const [find, setFind] = useState('')
  const found = useWidgetSearch(find)
  const inFrame = new Set(inner.map(({ id }) => id))
  const near = new Map(own.filter(({ widget_ids }) => widget_ids.length === 0).map((one) => [one.id, one]))
  const offered = [
    ...[...near.values()].filter((one) => hasWords(widgetText(one), find)).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ...found.records.filter(({ id }) => !near.has(id)),
  ].filter(({ id }) => !inFrame.has(id))
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <h3 className="text-soft text-xs">Other widgets, those of this dashboard first</h3>
      <Input placeholder="Find a widget" aria-label="Find a widget" value={find} onChange={({ target }) => setFind(target.value)} />
      {found.error && <FailureNote thrown={found.error} again={() => found.refetch()} isSmall />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keyboard too */}
      <section tabIndex={0} aria-label="Widgets to add" className="max-h-80 overflow-auto">
        <ul aria-label="Other widgets" aria-busy={found.isPlaceholderData}>
          {offered.map((widget) => (
            <li key={widget.id} className="flex items-center gap-2 py-0.5">
              <Button size="small" aria-label={`Add ${widget.name}`} onClick={() => onAdd(widget)}>
                <Icon of={Plus} size="small" />
              </Button>
              <span className="min-w-0 truncate">{widget.name}</span>
              {!near.has(widget.id) && <span className="shrink-0 text-soft text-xs">not on this dashboard</span>}
            </li>
          ))}
          {found.isLoading && <li className="text-soft">Loading…</li>}
          {found.data && !found.hasNextPage && offered.length === 0 && (
            <li className="text-soft">{find.trim() === '' ? 'No other widgets.' : 'No widget matches.'}</li>
          )}
        </ul>
        <MorePages of={found} />
      </section>
    </div>
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
