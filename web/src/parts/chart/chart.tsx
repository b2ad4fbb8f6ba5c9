import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { compact, count, span } from '../numbers.ts'
import { clockOf, type Zone } from '../time-range.ts'
import { seriesColour, useColours } from './colours.ts'
import { type Drawing, optionsOf, plotted } from './drawing.ts'
import { topsAt } from './stack.ts'

export type Shape = 'line' | 'bar' | 'area'
/** A ChartSeries has a value for every moment of its chart; null where there is none. `before` is what was there one period earlier. */
export type ChartSeries = { name: string; values: readonly (number | null)[]; before?: readonly (number | null)[] }
/** ChartData are series over the same moments, which lie stepMs apart and begin slices. */
export type ChartData = { times: readonly number[]; stepMs: number; series: readonly ChartSeries[] }
/** A ChartLevel is a value that is looked out for, such as a threshold. */
export type ChartLevel = { value: number; name: string; look: 'ALERT' | 'WARN' }
/** A ChartBand is a stretch of time with a meaning. */
export type ChartBand = { fromMs: number; toMs: number; look: 'ALERT' | 'WARN' | 'NO_DATA' | 'partial' }

type ChartProps = {
  /** label says what is shown, for those who cannot see it. */
  label: string
  data: ChartData
  shape?: Shape
  zone: Zone
  height?: number
  levels?: readonly ChartLevel[]
  bands?: readonly ChartBand[]
  unit?(value: number): string
  room?: string
  isOld?: boolean
  /** onPick is told of a slice that was clicked. */
  onPick?(fromMs: number, toMs: number): void
  onRange?(fromMs: number, toMs: number): void
}

const NAMED_MAX = 8
const DRAG_LEAST_PX = 4
const NONE: readonly never[] = []

/** Chart draws series over time: a crosshair reads it, a click picks a slice, a drag a range, and the arrow keys do what the pointer does. */
export function Chart(props: ChartProps) {
  const { label, data, shape = 'line', zone, height = 200, levels = NONE, bands = NONE, unit = shortly, room, isOld = false } = props
  const { onPick, onRange } = props
  const [at, setAt] = useState<number>()
  const { place, plot } = usePlot({ data, shape, zone, height, levels, bands, unit, room, setAt, onRange })
  const pick = () => {
    const fromMs = at === undefined ? undefined : data.times[at]
    if (fromMs !== undefined) onPick?.(fromMs, fromMs + data.stepMs)
  }
  const pressed = useRef(0)
  // A drag ends with a click too, which picks nothing.
  const onClick = (event: MouseEvent) => {
    if (Math.abs(event.clientX - pressed.current) < DRAG_LEAST_PX) pick()
  }
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.key === 'Enter') pick()
    if (by === undefined || !plot.current) return
    event.preventDefault()
    const next = Math.min(data.times.length - 1, Math.max(0, (at ?? (by > 0 ? -1 : data.times.length)) + by))
    const left = plot.current.valToPos(data.times[next] ?? 0, 'x')
    plot.current.setCursor({ left: left + 0.5, top: 10 })
  }
  return (
    <figure className={`flex min-w-0 flex-col ${isOld ? 'opacity-50' : ''}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: what is drawn here is no group of fields */}
      <div
        ref={place}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the crosshair
        tabIndex={0}
        aria-label={`${label}: ${summary(data, unit)}. Left and right read the values${onPick ? ', Enter opens the events' : ''}.`}
        className={`min-w-0 overflow-hidden ${onPick ? 'cursor-pointer' : ''}`}
        style={{ height }}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          pressed.current = event.clientX
        }}
        onClick={onClick}
      />
      <Reading data={data} at={at} zone={zone} unit={unit} />
    </figure>
  )
}

const shortly = (value: number): string => (Math.abs(value) >= 10_000 ? compact(value) : count(Math.round(value * 1000) / 1000))

function summary({ series, times, stepMs }: ChartData, unit: (value: number) => string): string {
  const values = series.flatMap((one) => one.values).filter((value) => value !== null)
  const most = values.reduce((top, value) => Math.max(top, value), Number.NEGATIVE_INFINITY)
  return `${series.length} series of ${times.length} steps of ${span(stepMs)}${values.length > 0 ? `, at most ${unit(most)}` : ', without values'}`
}

type PlotAsk = Omit<Drawing, 'colours' | 'size' | 'onCursor'> & { data: ChartData; height: number; setAt(at: number | undefined): void }

/** usePlot keeps one drawing in its place: new numbers of the same form are drawn into it, anything else makes it anew. */
function usePlot({ data, shape, zone, height, levels, bands, unit, room, setAt, onRange }: PlotAsk) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const colours = useColours()
  const latest = useRef({ data, unit, onRange })
  latest.current = { data, unit, onRange }
  const form = JSON.stringify([
    shape,
    zone,
    height,
    levels,
    bands,
    room,
    data.series.length,
    data.stepMs,
    data.times[0],
    data.times.length,
    onRange === undefined,
  ])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form holds everything a drawing is made of, beside its numbers
  useEffect(() => {
    const target = place.current
    if (!target) return
    const now = latest.current
    const drawing: Drawing = {
      shape,
      zone,
      colours,
      levels,
      bands,
      room,
      unit: (value) => latest.current.unit(value),
      size: { width: Math.max(1, target.clientWidth), height },
      onCursor: setAt,
      onRange: onRange && ((fromMs, toMs) => latest.current.onRange?.(fromMs, toMs)),
    }
    const made = new uPlot(optionsOf(now.data, drawing), plotted(now.data, shape), target)
    plot.current = made
    const resized = new ResizeObserver(() => {
      if (target.clientWidth > 0 && target.clientWidth !== made.width) made.setSize({ width: target.clientWidth, height })
    })
    resized.observe(target)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [form, colours])
  useEffect(() => plot.current?.setData(plotted(data, shape)), [data, shape])
  return { place, plot }
}

type ReadingProps = { data: ChartData; at: number | undefined; zone: Zone; unit(value: number): string }

/** Reading says what the crosshair stands on, the largest values first; without a crosshair it names the series. */
function Reading({ data, at, zone, unit }: ReadingProps) {
  const { series, times } = data
  const whole = useMemo(() => series.slice(0, NAMED_MAX).map((_, index) => ({ index, value: undefined })), [series])
  const atMs = at === undefined ? undefined : times[at]
  const shown = at === undefined || atMs === undefined ? whole : topsAt(series, at, NAMED_MAX)
  const rest = series.length - shown.length
  return (
    <figcaption
      className={`flex ${series.length > 3 ? 'h-10' : 'h-5'} flex-wrap content-start items-center gap-x-3 overflow-hidden px-1 text-soft text-xs tabular-nums`}
      aria-live="polite"
    >
      {atMs !== undefined && (
        <span>
          {clockOf(atMs, zone).day} {clockOf(atMs, zone).clock.slice(0, 8)}
        </span>
      )}
      {shown.map(({ index, value }) => (
        <span key={index} className="flex min-w-0 items-center gap-1">
          <span aria-hidden className="h-2 w-3 shrink-0 rounded-sm" style={{ background: seriesColour(index) }} />
          <span className="max-w-48 truncate">{series[index]?.name}</span>
          {value !== undefined && <strong className="font-medium text-ink">{unit(value)}</strong>}
        </span>
      ))}
      {rest > 0 && <span>and {rest} more</span>}
    </figcaption>
  )
}
