import type { Dashboard } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useMemo, useState } from 'react'
import { LinkedText } from '../../parts/records/linked-text.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import type { Range } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Corner, Grips, useArrangement } from './arrangement.tsx'
import { DashboardTools } from './dashboard-tools.tsx'
import { placementsOf } from './layout.ts'
import type { DashboardParams } from './params.ts'
import { useDashboard, useDashboardChange, useInnerWidgets } from './queries.ts'
import { WidgetCard } from './widget-card.tsx'
import { WidgetTools } from './widget-tools.tsx'

const HOUR: Range = { words: 'Last 1 hour' }

/** Shows its widgets over one range; each loads on its own, all share one crosshair. */
export function OneDashboard({ id, params }: { id: string; params: DashboardParams }) {
  const dashboard = useDashboard(id)
  const navigate = useNavigate({ from: '/dashboards' })
  const [zone, setZone] = useZone()
  const [refreshCount, setRefreshCount] = useState(0)
  const [isArranging, setArranging] = useState(false)
  const range = rangeOf(params, HOUR)
  const isCompared = params.before === true
  const pick = (next: Range) => void navigate({ search: ({ r: _r, f: _f, t: _t, ...rest }) => ({ ...rest, ...rangeParamsOf(next) }) })
  if (!dashboard.data) return <MissingRecord title="Dashboard" noun="dashboard" of={dashboard} back={<BackToDashboards />} />
  const { name, description, widgets } = dashboard.data
  return (
    <Page
      title={name}
      back={<BackToDashboards />}
      actions={
        <>
          <TimePicker range={range} zone={zone} onPick={pick} onZone={setZone} />
          <Button title="Refresh" aria-label="Refresh" onClick={() => setRefreshCount(refreshCount + 1)}>
            <Icon of={RotateCw} size="small" />
          </Button>
          {widgets.length > 0 && (
            <Permitted to="dashboards_write">
              <Button aria-pressed={isArranging} variant={isArranging ? 'main' : 'plain'} onClick={() => setArranging(!isArranging)}>
                {isArranging ? 'Done' : 'Edit'}
              </Button>
            </Permitted>
          )}
          <DashboardTools
            dashboard={dashboard.data}
            range={range}
            isCompared={isCompared}
            onCompare={() => navigate({ search: ({ before: _before, ...rest }) => (isCompared ? rest : { ...rest, before: true }) })}
          />
        </>
      }
    >
      {description && (
        <p className="-mt-2 whitespace-pre-wrap break-words text-soft">
          <LinkedText text={description} />
        </p>
      )}
      {widgets.length === 0 ? (
        <EmptyState title="This dashboard has no widgets yet">
          <Permitted to="dashboards_write">
            <Link to="/dashboards" search={{ id, widget: 'new' }} className={buttonClass({ variant: 'main' })}>
              Add a widget
            </Link>
          </Permitted>
        </EmptyState>
      ) : (
        <Grid
          dashboard={dashboard.data}
          isArranging={isArranging}
          shown={{ range, zone, refreshCount, isCompared, syncKey: id, onRange: (fromMs, toMs) => pick({ fromMs, toMs }) }}
        />
      )}
    </Page>
  )
}

type Shared = Pick<Parameters<typeof WidgetCard>[0], 'range' | 'zone' | 'refreshCount' | 'isCompared' | 'syncKey' | 'onRange'>

function Grid({ dashboard, isArranging, shown }: { dashboard: Dashboard; isArranging: boolean; shown: Shared }) {
  const { id, widgets, layout } = dashboard
  const inner = useInnerWidgets(widgets)
  const change = useDashboardChange(id)
  const [failure, setFailure] = useState<unknown>()
  const saved = placementsOf(
    widgets.map((widget) => widget.id),
    layout.widget_layouts ?? [],
  )
  const arranged = useArrangement(saved, (next) => {
    setFailure(undefined)
    return change({ layout: { widget_layouts: next } }).catch(setFailure)
  })
  const { places } = arranged
  // biome-ignore lint/correctness/useExhaustiveDependencies: a drag keeps the order of the elements, so that none loses the pointer or the focus
  const order = useMemo(() => saved.map((place) => place.id), [isArranging, widgets])
  return (
    <>
      {failure !== undefined && <FailureNote thrown={failure} />}
      <div ref={arranged.grid} className="grid gap-3 lg:auto-rows-[5.25rem] lg:grid-cols-12">
        {order.map((one) => {
          const widget = widgets.find((other) => other.id === one)
          const at = places.findIndex((place) => place.id === one)
          const place = places[at]
          if (!widget || !place) return null
          const grips = { name: widget.name, id: one, isFirst: at === 0, isLast: at === places.length - 1, arranged }
          return (
            <WidgetCard
              key={one}
              widget={widget}
              place={place}
              order={at}
              inner={inner.data ?? []}
              isLifted={arranged.isDragged(one)}
              {...shown}
              tools={
                <>
                  {isArranging && <Grips {...grips} />}
                  <WidgetTools dashboard={dashboard} widget={widget} range={shown.range} />
                </>
              }
            >
              {isArranging && <Corner {...grips} />}
            </WidgetCard>
          )
        })}
      </div>
    </>
  )
}
