import type { Dashboard, Widget } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { askedRangeOf, rangeOf } from '../../parts/asked-range.ts'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { Nothing, Page, Waiting } from '../../parts/page.tsx'
import { TimePicker } from '../../parts/time-picker.tsx'
import type { Range } from '../../parts/time-range.ts'
import { useZone } from '../../parts/zone.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Popover } from '../../ui/popover.tsx'
import type { Asked } from './asked.ts'
import { flowing, heights, moved, type Place, placesOf, widths } from './layout.ts'
import { useAllWidgets, useChange, useDashboard, useDashboards } from './questions.ts'
import { WidgetCard } from './widget-card.tsx'

const HOUR: Range = { words: 'Last 1 hour' }

/** OneDashboard shows its widgets over one range; each loads on its own, all share one crosshair. */
export function OneDashboard({ id, asked }: { id: string; asked: Asked }) {
  const dashboard = useDashboard(id)
  const navigate = useNavigate({ from: '/dashboards' })
  const [zone, setZone] = useZone()
  const [turn, setTurn] = useState(0)
  const [isArranging, setArranging] = useState(false)
  const range = rangeOf(asked, HOUR)
  const pick = (next: Range) => void navigate({ search: ({ r: _r, f: _f, t: _t, ...rest }) => ({ ...rest, ...askedRangeOf(next) }) })
  if (!dashboard.data) {
    return (
      <Page title="Dashboard" actions={<BackToList />}>
        {dashboard.error ? (
          <FailureNote thrown={dashboard.error} again={() => dashboard.refetch()} />
        ) : (
          <Waiting>Reading the dashboard …</Waiting>
        )}
      </Page>
    )
  }
  const { name, description, widgets } = dashboard.data
  return (
    <Page
      title={name}
      actions={
        <>
          <BackToList />
          <TimePicker range={range} zone={zone} onPick={pick} onZone={setZone} />
          <Button title="Ask again" aria-label="Ask again" onClick={() => setTurn(turn + 1)}>
            ↻
          </Button>
          <Link
            to="/dashboards"
            search={{ id, widget: 'new', ...askedRangeOf(range) }}
            className="inline-flex h-8 items-center rounded border border-line bg-panel px-2.5 hover:border-soft"
          >
            Add a widget
          </Link>
          {widgets.length > 0 && (
            <Button aria-pressed={isArranging} look={isArranging ? 'main' : 'plain'} onClick={() => setArranging(!isArranging)}>
              {isArranging ? 'Done' : 'Arrange'}
            </Button>
          )}
          <More dashboard={dashboard.data} />
        </>
      }
    >
      {description && <p className="-mt-2 whitespace-pre-wrap break-words text-soft">{description}</p>}
      {widgets.length === 0 ? (
        <Nothing title="Nothing is shown here yet">
          <Link to="/dashboards" search={{ id, widget: 'new' }} className="text-accent underline">
            Add the first widget
          </Link>
        </Nothing>
      ) : (
        <Grid
          dashboard={dashboard.data}
          isArranging={isArranging}
          shown={{ range, zone, turn, room: id, onRange: (fromMs, toMs) => pick({ fromMs, toMs }) }}
        />
      )}
    </Page>
  )
}

const BackToList = () => (
  <Link to="/dashboards" search={{}} className="px-2 text-accent hover:underline">
    All dashboards
  </Link>
)

type Shared = Pick<Parameters<typeof WidgetCard>[0], 'range' | 'zone' | 'turn' | 'room' | 'onRange'>

function Grid({ dashboard, isArranging, shown }: { dashboard: Dashboard; isArranging: boolean; shown: Shared }) {
  const { id, widgets, layout } = dashboard
  const all = useAllWidgets(widgets.some(({ widget_ids }) => widget_ids.length > 0))
  const change = useChange(id)
  const [failure, setFailure] = useState<unknown>()
  const places = placesOf(
    widgets.map((widget) => widget.id),
    layout.widget_layouts ?? [],
  )
  const arrange = (next: Place[]) => {
    setFailure(undefined)
    change({ layout: { widget_layouts: next } }).catch(setFailure)
  }
  const resize = (one: string, size: Partial<Place>) =>
    arrange(flowing(places.map((place) => (place.id === one ? { ...place, ...size } : place))))
  return (
    <>
      {failure !== undefined && <FailureNote thrown={failure} />}
      <div className="grid gap-3 lg:auto-rows-[5.25rem] lg:grid-cols-12">
        {places.map((place, at) => {
          const widget = widgets.find((one) => one.id === place.id)
          return (
            widget && (
              <WidgetCard
                key={place.id}
                widget={widget}
                place={place}
                all={all.data ?? []}
                {...shown}
                tools={
                  isArranging ? (
                    <Arranging
                      widget={widget}
                      place={place}
                      isFirst={at === 0}
                      isLast={at === places.length - 1}
                      onMove={(by) => arrange(moved(places, place.id, by))}
                      onResize={(size) => resize(place.id, size)}
                    />
                  ) : (
                    <WidgetTools dashboard={dashboard} widget={widget} />
                  )
                }
              />
            )
          )
        })}
      </div>
    </>
  )
}

type ArrangingProps = {
  widget: Widget
  place: Place
  isFirst: boolean
  isLast: boolean
  onMove(by: -1 | 1): void
  onResize(size: Partial<Place>): void
}

function Arranging({ widget, place, isFirst, isLast, onMove, onResize }: ArrangingProps) {
  const withOwn = (offered: readonly (readonly [number, string])[], own: number) =>
    (offered.some(([size]) => size === own) ? offered : [...offered, [own, 'as it is'] as const]).map(
      ([size, name]) => [String(size), name] as const,
    )
  return (
    <span className="flex items-center gap-1">
      <Button size="small" disabled={isFirst} aria-label={`Move ${widget.name} forward`} onClick={() => onMove(-1)}>
        ←
      </Button>
      <Button size="small" disabled={isLast} aria-label={`Move ${widget.name} back`} onClick={() => onMove(1)}>
        →
      </Button>
      <Select
        className="w-28! text-xs"
        aria-label={`Width of ${widget.name}`}
        value={String(place.w)}
        options={withOwn(widths, place.w)}
        onPick={(next) => onResize({ w: Number(next) })}
      />
      <Select
        className="w-20! text-xs"
        aria-label={`Height of ${widget.name}`}
        value={String(place.h)}
        options={withOwn(heights, place.h)}
        onPick={(next) => onResize({ h: Number(next) })}
      />
    </span>
  )
}

function WidgetTools({ dashboard, widget }: { dashboard: Dashboard; widget: Widget }) {
  const client = useClient()
  const queries = useQueryClient()
  const list = useDashboards()
  const isElsewhere = (list.data ?? []).some(({ id, widget_ids }) => id !== dashboard.id && widget_ids.includes(widget.id))
  const remove = async () => {
    if (isElsewhere) await client.dashboards.removeWidget({ params: { dashboardId: dashboard.id, widgetId: widget.id } })
    else await client.widgets.remove({ params: { widgetId: widget.id } })
    await queries.invalidateQueries({ queryKey: ['dashboards'] })
  }
  return (
    <span className="flex items-center">
      {widget.widget_ids.length === 0 && (
        <Link
          to="/dashboards"
          search={(now) => ({ ...now, id: dashboard.id, widget: widget.id })}
          className="rounded px-2 py-0.5 text-soft text-xs hover:bg-tint hover:text-ink"
          aria-label={`Edit ${widget.name}`}
        >
          Edit
        </Link>
      )}
      <Confirm
        action="Remove"
        size="small"
        label={`Remove ${widget.name}`}
        question={isElsewhere ? `Take “${widget.name}” off this dashboard? It stays on others.` : `Remove “${widget.name}”?`}
        onYes={remove}
      />
    </span>
  )
}

function More({ dashboard }: { dashboard: Dashboard }) {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const change = useChange(dashboard.id)
  const [isOpen, setOpen] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const text = (name: string) => String(given.get(name) ?? '').trim()
    setFailure(undefined)
    change({ name: text('name'), description: text('description') }).then(() => setOpen(false), setFailure)
  }
  const remove = async () => {
    await client.dashboards.remove({ params: { dashboardId: dashboard.id } })
    queries.setQueryData(['dashboards'], (list: readonly Dashboard[] | undefined) => list?.filter(({ id }) => id !== dashboard.id))
    await navigate({ to: '/dashboards', search: {} })
    await queries.invalidateQueries({ queryKey: ['dashboards'], exact: true })
  }
  const form: ReactNode = (
    <form onSubmit={send} className="flex w-64 max-w-full flex-col gap-2">
      <Field name="Name">
        <Input name="name" required maxLength={255} defaultValue={dashboard.name} />
      </Field>
      <Field name="Description">
        <TextArea name="description" maxLength={1_024} defaultValue={dashboard.description ?? ''} />
      </Field>
      <Button type="submit" look="main">
        Save
      </Button>
      {failure !== undefined && <FailureNote thrown={failure} />}
    </form>
  )
  return (
    <>
      <Popover label="Rename" open={isOpen} onOpenChange={setOpen} trigger={<Button>Rename</Button>}>
        {form}
      </Popover>
      <Confirm action="Delete" question={`Delete “${dashboard.name}” with those of its widgets that stand nowhere else?`} onYes={remove} />
    </>
  )
}
