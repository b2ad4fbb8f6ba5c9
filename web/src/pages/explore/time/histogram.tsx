import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react'
import { FailureNote } from '../../../parts/failure.tsx'
import { change, count, quantity, span } from '../../../parts/numbers.ts'
import { clockOf, type Zone } from '../../../parts/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { SelectionTools } from '../changes/selection-tools.tsx'
import type { Bar, Bars } from './bars.ts'
import { comparableTotals } from './compare.ts'
import type { TimeSpan } from './time-span.ts'

type HistogramProps = {
  bars: Bars | undefined
  /** earlier are the bars of the compared period and its label. */
  earlier?: { bars: Bars; name: string } | undefined
  isStale: boolean
  failure: unknown
  /** note replaces the summary while there is no result: the query is wrong, or was cancelled. */
  note: string | undefined
  zone: Zone
  selection: TimeSpan | undefined
  /** canReset is true when the range is not the default. */
  canReset: boolean
  /** overlay is rendered over the bars, tools below them. */
  overlay?: ReactNode
  tools?: ReactNode
  onSelect(timeSpan: TimeSpan | undefined): void
  onRange(timeSpan: TimeSpan): void
  onReset(): void
  onChanges(): void
  onRetry(): unknown
}

const HEIGHT = 96
const kinds = ['info', 'warn', 'error'] as const
const colors = { info: 'fill-bar-info', warn: 'fill-bar-warn', error: 'fill-bar-error' }
const KEY = 'dendro.histogram'

/** Histogram shows the matching events over time by status. A click selects a bar, a drag several. Arrow keys, with Shift for several, and Enter do the same. */
export function Histogram(props: HistogramProps) {
  const { bars: data, failure, zone, onRetry, overlay, tools } = props
  const [isCollapsed, setCollapsed] = useState(() => localStorage.getItem(KEY) === 'closed')
  const [barIndex, setBarIndex] = useState<number>()
  const toggleCollapsed = () => {
    localStorage.setItem(KEY, isCollapsed ? 'open' : 'closed')
    setCollapsed(!isCollapsed)
  }
  const bars = data?.bars ?? []
  const pointedBar = barIndex === undefined ? undefined : bars[barIndex]
  return (
    <section aria-label="Events over time" className="border-line border-b px-3 pt-1 pb-1">
      {failure && !data ? (
        <div className="-mx-2 mt-1 overflow-y-auto" style={isCollapsed ? undefined : { height: HEIGHT }}>
          <FailureNote thrown={failure} again={onRetry} isSmall />
        </div>
      ) : null}
      {!isCollapsed && !(failure && !data) && (
        <div className="relative mt-1">
          <BarChart {...props} barIndex={barIndex} setBarIndex={setBarIndex} />
          {overlay}
          <SelectionOverlay {...props} />
        </div>
      )}
      <div className="flex min-h-7 flex-wrap items-center gap-x-3 whitespace-nowrap text-soft text-xs tabular-nums">
        <Button size="small" variant="quiet" aria-expanded={!isCollapsed} className="-ml-2" onClick={toggleCollapsed}>
          <span aria-hidden>{isCollapsed ? '▸' : '▾'}</span>
          <span className="sr-only">Histogram</span>
        </Button>
        <span className="min-w-32 max-sm:hidden">
          {bars[0] && clockOf(bars[0].fromMs, zone).day} {bars[0] && clockOf(bars[0].fromMs, zone).clock.slice(0, 8)}
        </span>
        <span className="min-w-0 flex-1 truncate max-sm:order-1 max-sm:basis-40" aria-live="polite">
          {props.note ??
            (pointedBar
              ? barText(pointedBar, zone, barIndex, props.earlier)
              : data
                ? summaryText(data, props.earlier)
                : failure
                  ? ''
                  : 'Counting…')}
        </span>
        {tools}
        <ZoomButtons {...props} />
        <span className="min-w-14 text-right max-md:hidden">{data && bars.length > 0 && clockOf(endOf(data), zone).clock.slice(0, 8)}</span>
      </div>
    </section>
  )
}

/** summaryText is shown while no bar is hovered: the length of a bar, and the change against the compared period. */
function summaryText(data: Bars, earlier: HistogramProps['earlier']): string {
  const step = `${span(data.stepMs)} per bar`
  if (!earlier) return step
  const { now, before } = comparableTotals(data, earlier.bars)
  return `${step} · ${change(now, before)} vs. ${earlier.name}`
}

type BarChartProps = HistogramProps & {
  barIndex: number | undefined
  setBarIndex(barIndex: number | undefined | ((before: number | undefined) => number)): void
}
type Drag = { from: number; to: number }

/** BarChart is the bars and their pointer and keyboard handling. */
function BarChart({ bars: data, earlier, isStale, note, selection, onSelect, barIndex, setBarIndex }: BarChartProps) {
  const [drag, setDrag] = useState<Drag>()
  const bars = data?.bars ?? []
  const maxCount = Math.max(1, ...bars.map(sumOf), ...(earlier?.bars.bars.map(sumOf) ?? []))
  const timeSpanOf = ({ from, to }: Pick<Drag, 'from' | 'to'>): TimeSpan | undefined => {
    const [first, last] = [bars[Math.min(from, to)], bars[Math.max(from, to)]]
    return first && last && data && { fromMs: first.fromMs, toMs: last.fromMs + data.stepMs }
  }
  const select = (timeSpan: TimeSpan | undefined) => {
    if (!timeSpan) return
    onSelect(selection?.fromMs === timeSpan.fromMs && selection.toMs === timeSpan.toMs ? undefined : timeSpan)
  }
  const finish = () => {
    const timeSpan = drag && timeSpanOf(drag)
    setDrag(undefined)
    select(timeSpan)
  }
  const barIndexAt = (event: PointerEvent<SVGSVGElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * bars.length)))
  }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : undefined
    if (by !== undefined) {
      const next = Math.min(bars.length - 1, Math.max(0, (barIndex ?? (by > 0 ? -1 : bars.length)) + by))
      setBarIndex(next)
      setDrag(event.shiftKey ? { from: drag?.from ?? barIndex ?? next, to: next } : undefined)
    } else if (event.key === 'Enter' && drag) finish()
    else if (event.key === 'Enter') select(barIndex === undefined ? undefined : timeSpanOf({ from: barIndex, to: barIndex }))
    else if (event.key === 'Escape' && drag) setDrag(undefined)
    else if (event.key === 'Escape' && selection) onSelect(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const highlighted = drag
    ? { from: Math.min(drag.from, drag.to), count: Math.abs(drag.to - drag.from) + 1 }
    : data && selection && barRangeOf(selection, data)
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={`block h-24 w-full cursor-crosshair touch-none ${isStale ? 'opacity-50' : ''}`}
      role="img"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys and Enter select a bar
      tabIndex={0}
      aria-label={data ? `${quantity(data.total, 'event')} in steps of ${span(data.stepMs)}` : (note ?? 'Counting')}
      // Without this a drag selects the text of the page, and the next key draws a focus frame around the chart.
      onMouseDown={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from: barIndexAt(event), to: barIndexAt(event) })
      }}
      onPointerMove={(event) => {
        setBarIndex(barIndexAt(event))
        if (drag) setDrag({ ...drag, to: barIndexAt(event) })
      }}
      onPointerUp={finish}
      onPointerCancel={() => setDrag(undefined)}
      onPointerLeave={() => setBarIndex(undefined)}
      onKeyDown={onKey}
    >
      <title>Click selects a bar, drag selects several bars</title>
      {barIndex !== undefined && <rect className="fill-ink/5" x={barIndex} y={0} width={1} height={HEIGHT} />}
      {highlighted && <rect className="fill-accent/20" x={highlighted.from} y={0} width={highlighted.count} height={HEIGHT} />}
      {earlier?.bars.bars.map((bar, index) => (
        <EarlierBar key={bar.fromMs} x={index} height={(sumOf(bar) / maxCount) * (HEIGHT - 4)} />
      ))}
      {bars.map((bar, index) => (
        <StackedBar key={bar.fromMs} bar={bar} x={index} maxCount={maxCount} />
      ))}
    </svg>
  )
}

/** EarlierBar is a bar of the compared period, wider than the bar in front of it. */
function EarlierBar({ x, height }: { x: number; height: number }) {
  if (height === 0) return null
  return <rect data-earlier className="fill-ink/20" x={x} y={HEIGHT - height} width={1} height={height} />
}

/** SelectionOverlay places the tools of the selection next to it, where they cover no selected bar. */
function SelectionOverlay({ bars: data, selection, onSelect, onRange, onChanges }: HistogramProps) {
  const range = data && selection && barRangeOf(selection, data)
  if (!range) return null
  const [from, to] = [range.from, range.from + range.count].map((at) => Math.min(100, Math.max(0, (100 * at) / data.bars.length)))
  const isRight = (to ?? 0) <= 60
  return (
    <div
      className="pointer-events-none absolute inset-x-0 top-1 flex"
      style={isRight ? { paddingLeft: `${to}%` } : { paddingRight: `${100 - (from ?? 0)}%` }}
    >
      <SelectionTools
        className={`pointer-events-auto mx-1 ${isRight ? '' : 'ml-auto'}`}
        onZoom={() => onRange(selection)}
        onChanges={onChanges}
        onClear={() => onSelect(undefined)}
      />
    </div>
  )
}

/** ZoomButtons zoom out to twice the range, and reset the range. */
function ZoomButtons({ bars: data, canReset, onRange, onReset }: HistogramProps) {
  const first = data?.bars[0]
  const zoomOut = () => {
    if (!data || !first) return
    const half = (endOf(data) - first.fromMs) / 2
    onRange({ fromMs: Math.max(0, first.fromMs - half), toMs: endOf(data) + half })
  }
  return (
    <span className="ml-auto flex flex-wrap gap-x-1 max-sm:order-2">
      <Button size="small" variant="quiet" disabled={!data} onClick={zoomOut}>
        Zoom out
      </Button>
      {canReset && (
        <Button size="small" variant="quiet" onClick={onReset}>
          Reset
        </Button>
      )}
    </span>
  )
}

const sumOf = ({ info, warn, error }: Bar): number => info + warn + error
const endOf = ({ bars, stepMs }: Bars): number => (bars.at(-1)?.fromMs ?? 0) + stepMs

function barRangeOf(selection: TimeSpan, { bars, stepMs }: Bars): { from: number; count: number } | undefined {
  const start = bars[0]?.fromMs
  if (start === undefined || selection.toMs <= start) return undefined
  return { from: (selection.fromMs - start) / stepMs, count: (selection.toMs - selection.fromMs) / stepMs }
}

function barText(bar: Bar, zone: Zone, barIndex: number | undefined, earlier: HistogramProps['earlier']): string {
  const earlierBar = barIndex === undefined ? undefined : earlier?.bars.bars[barIndex]
  return [
    `${clockOf(bar.fromMs, zone).clock.slice(0, 8)} · ${quantity(sumOf(bar), 'event')}`,
    ...(bar.error ? [quantity(bar.error, 'error')] : []),
    ...(bar.warn ? [quantity(bar.warn, 'warning')] : []),
    ...(earlierBar && earlier ? [`${count(sumOf(earlierBar))} ${earlier.name}`] : []),
  ].join(' · ')
}

function StackedBar({ bar, x, maxCount }: { bar: Bar; x: number; maxCount: number }) {
  let y = HEIGHT
  return kinds.map((kind) => {
    const height = bar[kind] === 0 ? 0 : Math.max(1, (bar[kind] / maxCount) * (HEIGHT - 4))
    y -= height
    return height > 0 && <rect key={kind} className={colors[kind]} x={x + 0.08} y={y} width={0.84} height={height} />
  })
}
