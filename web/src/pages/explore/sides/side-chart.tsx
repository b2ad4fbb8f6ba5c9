import type { KeyboardEvent, PointerEvent } from 'react'
import { compact, quantity } from '../../../parts/chart/numbers.ts'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { timeTicks } from '../time/bar-scale.ts'
import { type Bars, endOf } from '../time/bars.ts'
import { type Brush, barAt, brushedBars } from './sides.ts'

const kinds = ['info', 'warn', 'error'] as const
const colors = { info: 'fill-bar-info', warn: 'fill-bar-warn', error: 'fill-bar-error' }
const HEIGHT = 96
/** The last place of the axis, which belongs to the last bar. */
const LAST = 0.9999

type SideChartProps = {
  name: string
  bars: Bars
  top: number
  zone: Zone
  axis: SharedAxis
}

/** The time axis of both charts: the place that is read, from 0 to 1, and the part that is brushed. */
export type SharedAxis = {
  pointed: number | undefined
  /** True when a side reads, and not another chart of the page. */
  isOwn: boolean
  /** Reads a place; without one the axis is left, and nothing is brushed. */
  onPoint(at: number | undefined): void
  brush: Brush | undefined
  /** Brushes a part, and reads a place. */
  onBrush(brush: Brush | undefined, at?: number): void
  /** Shows the part that is brushed on both sides. */
  onZoom(brush: Brush): void
}

/** The bars of one side, with the scale and the pointer of both. */
export function SideChart({ name, bars: data, top, zone, axis }: SideChartProps) {
  const { bars } = data
  const from = bars[0]?.fromMs ?? 0
  const offsetMs = zone === 'utc' ? 0 : -new Date(from).getTimezoneOffset() * 60_000
  const { pointed, onPoint, brush, onBrush, onZoom } = axis
  const index = pointed === undefined ? undefined : barAt(pointed, bars)
  const brushed = brush && brushedBars(brush, bars)
  const placeOf = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect()
    return Math.min(LAST, Math.max(0, (clientX - left) / width))
  }
  const finish = (next: Brush) => {
    onPoint(undefined)
    onZoom(next)
  }
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by !== undefined) {
      const next = Math.min(bars.length - 1, Math.max(0, (index ?? (by > 0 ? -1 : bars.length)) + by))
      const place = (next + 0.5) / bars.length
      onBrush(event.shiftKey ? { from: brush?.from ?? pointed ?? place, to: place } : undefined, place)
    } else if (event.key === 'Enter' && brush) finish(brush)
    else if (event.key === 'Escape' && brush) onBrush(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="relative pb-4">
      <svg
        role="img"
        aria-label={`${name}: ${quantity(data.total, 'event')} over time`}
        viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="block h-24 w-full cursor-crosshair touch-none border-line border-b"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys read the bars, Shift and Enter select some
        tabIndex={0}
        onMouseDown={(event) => event.preventDefault()}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          onBrush({ from: placeOf(event), to: placeOf(event) }, placeOf(event))
        }}
        onPointerMove={(event) => {
          const place = placeOf(event)
          if (brush && event.buttons !== 0) onBrush({ ...brush, to: place }, place)
          else onPoint(place)
        }}
        onPointerUp={() => brush && finish(brush)}
        onPointerCancel={() => onBrush(undefined)}
        onPointerLeave={() => onPoint(undefined)}
        onKeyDown={onKey}
        onBlur={() => onPoint(undefined)}
      >
        <title>Drag selects a time, on both sides</title>
        {brushed && <rect data-brush x={brushed.first} width={brushed.count} y={0} height={HEIGHT} className="fill-accent/20" />}
        {index !== undefined && <rect x={index} width={1} y={0} height={HEIGHT} className="fill-tint" />}
        {bars.map((bar, at) => {
          let below = 0
          return kinds.map((kind) => {
            const height = (HEIGHT * bar[kind]) / top
            if (height === 0) return null
            below += height
            return (
              <rect key={`${bar.fromMs} ${kind}`} x={at + 0.05} width={0.9} y={HEIGHT - below} height={height} className={colors[kind]} />
            )
          })
        })}
      </svg>
      <span className="pointer-events-none absolute top-0 left-0 rounded-sm bg-panel/80 px-0.5 text-row leading-3 text-soft tabular-nums">
        {compact(top)}
      </span>
      {timeTicks(from, endOf(data), offsetMs).map(({ ms, at }) => (
        <span key={ms} className="absolute bottom-0 -translate-x-1/2 text-row text-soft tabular-nums" style={{ left: `${at * 100}%` }}>
          {clockOf(ms, zone).clock.slice(0, 5)}
        </span>
      ))}
    </div>
  )
}
