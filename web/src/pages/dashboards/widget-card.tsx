import type { MetricTimeseries, Widget } from '@dendro/api'
import { useNavigate } from '@tanstack/react-router'
import { type CSSProperties, type ReactNode, useMemo } from 'react'
import type { ChartBand } from '../../parts/chart/data.ts'
import { bothConditions, groupCondition, groupKeys } from '../../parts/query/condition.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading } from '../../parts/shell/page.tsx'
import type { Range, Zone } from '../../parts/time/time-range.ts'
import { useMarks } from '../../parts/time/use-marks.ts'
import { Figure } from './figure.tsx'
import { placementsOf, type WidgetPlacement } from './layout.ts'
import { useWidgetData, type WidgetData } from './queries.ts'
import type { Slice } from './slice.ts'
import { styleOf } from './widget-style.ts'

/** The height of a grid row including its gap. */
export const ROW_PX = 96
const AROUND_PX = 100
const LEAST_PX = 100

type WidgetCardProps = {
  widget: Widget
  place: WidgetPlacement
  /** The widgets inside the frames of the dashboard. */
  inner: readonly Widget[]
  range: Range
  zone: Zone
  refreshCount: number
  /** isCompared also draws the previous period. */
  isCompared: boolean
  syncKey: string
  tools: ReactNode
  /** The position in the single-column layout. */
  order: number
  /** isLifted is true during a drag. */
  isLifted: boolean
  children?: ReactNode
  onRange(fromMs: number, toMs: number): void
}

/** Positions a card in the grid of wide screens. */
export const placeStyle = ({ x, y, w, h }: WidgetPlacement): CSSProperties =>
  ({ '--col': `${x + 1} / span ${w}`, '--row': `${y + 1} / span ${h}` }) as CSSProperties

/** Loads the data of its widget, and fails on its own. */
export function WidgetCard(props: WidgetCardProps) {
  const { widget, place, inner, range, zone, refreshCount, isCompared, syncKey, tools, order, isLifted, children, onRange } = props
  const data = useWidgetData(widget, range, refreshCount, isCompared)
  const height = Math.max(LEAST_PX, place.h * ROW_PX - AROUND_PX)
  const shown = { data: data.data, isOld: data.isPlaceholderData, range, zone, syncKey, onRange }
  return (
    <section
      aria-label={widget.name}
      className={`relative flex min-w-0 flex-col overflow-hidden rounded-md border bg-panel lg:[grid-column:var(--col)] lg:[grid-row:var(--row)] ${isLifted ? 'z-10 border-accent shadow-lg' : 'border-line'}`}
      style={{ ...placeStyle(place), order }}
    >
      <div className="flex min-h-9 flex-wrap items-center gap-1 px-3 pt-1">
        <h2
          className="min-w-0 grow basis-40 truncate font-medium"
          title={widget.description ? `${widget.name}: ${widget.description}` : widget.name}
        >
          {widget.name}
        </h2>
        {tools}
      </div>
      <div className="flex min-h-0 flex-1 flex-col px-2 pb-2">
        {data.error ? <FailureNote thrown={data.error} again={() => data.refetch()} /> : null}
        {!data.data && !data.error && <Loading height={`${height}px`} />}
        {data.data &&
          (widget.widget_ids.length > 0 ? (
            <Inner frame={widget} inner={inner} height={height} {...shown} />
          ) : (
            <Shown widget={widget} height={height} isFilling {...shown} />
          ))}
      </div>
      {children}
    </section>
  )
}

type ShownProps = {
  widget: Widget
  data: WidgetData | undefined
  height: number
  isOld: boolean
  isFilling?: boolean
  range: Range
  zone: Zone
  syncKey: string
  onRange(fromMs: number, toMs: number): void
}

function Shown({ widget, data, height, isOld, isFilling = false, zone, syncKey, onRange }: ShownProps) {
  const navigate = useNavigate()
  const measured = useMemo(() => measuredOf(data?.metrics ?? [], widget.id), [data, widget.id])
  const before = useMemo(() => data?.before && measuredOf(data.before, widget.id), [data, widget.id])
  const style = useMemo(() => styleOf(widget), [widget])
  const marks = useMarks(data?.grid.fromMs, data?.grid.toMs)
  const query = measured[0]?.queries[0]
  if (!data) return null
  if (measured.length === 0) return <Empty height={height}>No metric yet.</Empty>
  if (measured.every(({ series, groups_series }) => groups_series.length === 0 && series.every((slice) => Number(slice.count) === 0))) {
    return <Empty height={height}>No data in this range</Empty>
  }
  const open = (fromMs: number, toMs: number, where = query?.where ?? '', of = query) =>
    void navigate({
      to: '/explore',
      search: { ...(of?.from && of.from.length > 0 ? { d: of.from } : {}), ...(where === '' ? {} : { q: where }), f: fromMs, t: toMs },
    })
  const onSlice = ({ query: of, path }: Slice) =>
    open(
      data.grid.fromMs,
      data.grid.toMs,
      bothConditions(of?.where ?? '', groupCondition(groupKeys(of?.groups).slice(0, path.length), path)),
      of,
    )
  return (
    <Figure
      type={widget.type}
      style={style}
      label={widget.name}
      measured={measured}
      before={before}
      height={height}
      zone={zone}
      bands={partialOf(data)}
      marks={marks.data}
      syncKey={syncKey}
      isOld={isOld}
      isFilling={isFilling}
      onPick={open}
      onRange={onRange}
      onSlice={onSlice}
    />
  )
}

const Empty = ({ height, children }: { height: number; children: ReactNode }) => (
  <p className="grid place-items-center text-soft" style={{ height }}>
    {children}
  </p>
)

const measuredOf = (metrics: WidgetData['metrics'], id: string): MetricTimeseries[] =>
  metrics.filter(({ widget_id }) => widget_id === id).flatMap(({ timeseries }) => watched(timeseries))

/** Prefers formulas: with one, the queries are only its inputs. */
function watched(timeseries: Record<string, MetricTimeseries>): MetricTimeseries[] {
  const all = Object.values(timeseries)
  const formulas = all.filter((one) => (one.formulas ?? []).length > 0)
  return formulas.length > 0 ? formulas : all
}

/** Marks the slice that is still in progress. */
function partialOf({ grid, nowMs }: WidgetData): ChartBand[] {
  return grid.toMs > nowMs ? [{ fromMs: grid.toMs - grid.stepMs, toMs: grid.toMs, kind: 'partial' }] : []
}

/** Shows the widgets of a frame from one shared response. */
function Inner({ frame, inner, height, ...shown }: Omit<ShownProps, 'widget'> & { frame: Widget; inner: readonly Widget[] }) {
  const places = placementsOf(frame.widget_ids, frame.layout.widget_layouts)
  return (
    <div className="grid gap-2 lg:grid-cols-12">
      {places.map((place) => {
        const widget = inner.find(({ id }) => id === place.id)
        return (
          widget && (
            <section
              key={place.id}
              aria-label={widget.name}
              className="min-w-0 rounded border border-line p-1 lg:[grid-column:var(--col)] lg:[grid-row:var(--row)]"
              style={placeStyle(place)}
            >
              <h3 className="truncate px-1 text-soft text-xs">{widget.name}</h3>
              <Shown widget={widget} {...shown} height={Math.max(LEAST_PX, Math.min(height, place.h * ROW_PX - AROUND_PX))} />
            </section>
          )
        )
      })}
    </div>
  )
}
