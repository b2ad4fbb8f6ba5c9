import { type CSSProperties, type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import type { ChartBand, ChartData, ChartLevel, ChartMark, ChartShape } from './data.ts'
import 'uplot/dist/uPlot.min.css'
import type { Zone } from '../time/time-range.ts'
import { useChartColors } from './colors.ts'
import { newCursor } from './cursor.ts'
import { formOf, optionsOf, plotted } from './drawing.ts'
import type { DrawingState } from './drawing-state.ts'
import { Legend } from './legend.tsx'
import { quantity, span } from './numbers.ts'
import { newSharedTime, type SharedTime, sharedTime } from './shared-time.ts'
import { sliceAt } from './stack.ts'
import { unitText } from './unit.ts'

type ChartProps = {
  /** Describes the chart to assistive technology. */
  label: string
  data: ChartData
  shape?: ChartShape
  zone: Zone
  /** height is in pixels; a filling chart is higher where its place is, in a window that is wide enough for a grid. */
  height?: number
  isFilling?: boolean
  levels?: readonly ChartLevel[]
  bands?: readonly ChartBand[]
  marks?: readonly ChartMark[]
  unit?(value: number): string
  /** Charts with one key share their time axis. */
  syncKey?: string
  isOld?: boolean
  /** onPick receives the clicked slice. */
  onPick?(fromMs: number, toMs: number): void
  onRange?(fromMs: number, toMs: number): void
}

const DRAG_LEAST_PX = 4
const NONE: readonly never[] = []

/** Draws series over time: a crosshair reads it, a click picks a slice, a drag a range, and the arrow keys do what the pointer does. */
export function Chart(props: ChartProps) {
  const { label, data, shape = 'line', zone, height = 200, levels = NONE, bands = NONE, marks = NONE, unit = plain } = props
  const { syncKey, isOld = false, isFilling = false, onPick, onRange } = props
  const [cursor] = useState(newCursor)
  const [own] = useState(newSharedTime)
  const time = syncKey === undefined ? own : sharedTime(syncKey)
  const { containerRef, plot, read } = usePlot({
    data,
    shape,
    zone,
    height,
    levels,
    bands,
    marks,
    unit,
    time,
    onCursor: cursor.move,
    onRange,
  })
  const description = useMemo(() => summary(data, unit, marks), [data, unit, marks])
  const pick = () => {
    const at = cursor.at()
    const fromMs = at === undefined ? undefined : data.times[at]
    if (fromMs !== undefined) onPick?.(fromMs, fromMs + data.stepMs)
  }
  const pressed = useRef(0)
  // A drag ends with a click too, which must not select a slice.
  const onClick = (event: MouseEvent) => {
    if (Math.abs(event.clientX - pressed.current) < DRAG_LEAST_PX) pick()
  }
  const [isFocused, setFocused] = useState(false)
  // The steps that are selected by keyboard, before Enter.
  const brush = useRef<{ from: number; to: number }>(undefined)
  const select = (next: { from: number; to: number } | undefined) => {
    brush.current = next
    const at = cursor.at()
    const part = next && partOf(data, next)
    if (plot.current) markPart(plot.current, part)
    read(at === undefined ? undefined : data.times[at], part)
  }
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    const brushed = brush.current
    if (event.key === 'Escape' && brushed) select(undefined)
    else if (event.key === 'Enter' && brushed) {
      const part = partOf(data, brushed)
      select(undefined)
      if (part) onRange?.(part.fromMs, part.toMs)
    } else if (event.key === 'Enter') pick()
    if (by === undefined || !plot.current) return
    event.preventDefault()
    const at = cursor.at()
    const next = Math.min(data.times.length - 1, Math.max(0, (at ?? (by > 0 ? -1 : data.times.length)) + by))
    const left = plot.current.valToPos(data.times[next] ?? 0, 'x')
    plot.current.setCursor({ left: left + 0.5, top: 10 })
    select(event.shiftKey && onRange ? { from: brushed?.from ?? at ?? next, to: next } : undefined)
  }
  return (
    <figure aria-label={label} className={`@container flex min-w-0 flex-col ${isFilling ? 'lg:min-h-0 lg:flex-1' : ''}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: what is drawn here is no group of fields */}
      <div
        ref={containerRef}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the crosshair
        tabIndex={0}
        aria-label={`${label}: ${description}. Left and right read the values${onRange ? ', with Shift they select a range' : ''}${onPick ? ', Enter opens the events' : ''}.`}
        className={`h-(--height) min-w-0 shrink-0 overflow-hidden ${isFilling ? 'lg:h-auto lg:min-h-24 lg:flex-1 lg:basis-0' : ''} ${onPick ? 'cursor-pointer' : ''}`}
        aria-busy={isOld}
        style={{ '--height': `${height}px` } as CSSProperties}
        onKeyDown={onKey}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false)
          if (brush.current) select(undefined)
        }}
        onPointerDown={(event) => {
          pressed.current = event.clientX
        }}
        onClick={onClick}
      />
      <Legend data={data} cursor={cursor} bands={bands} marks={marks} levels={levels} zone={zone} isLive={isFocused} unit={unit} />
    </figure>
  )
}

type Part = { fromMs: number; toMs: number }

/** The time from one step to another, in either order. */
function partOf({ times, stepMs }: ChartData, steps: { from: number; to: number }): Part | undefined {
  const [fromMs, lastMs] = [times[Math.min(steps.from, steps.to)], times[Math.max(steps.from, steps.to)]]
  return fromMs === undefined || lastMs === undefined ? undefined : { fromMs, toMs: lastMs + stepMs }
}

/** Draws the selection of a part, as a drag does. */
function markPart(plot: uPlot, part: Part | undefined): void {
  const { clientWidth, clientHeight } = plot.over
  const placeOf = (ms: number) => Math.min(clientWidth, Math.max(0, plot.valToPos(ms, 'x')))
  const left = part ? placeOf(part.fromMs) : 0
  const width = part ? placeOf(part.toMs) - left : 0
  plot.setSelect({ left, top: 0, width, height: width === 0 ? 0 : clientHeight }, false)
}

/** Shows what another chart reads; a moment that this chart does not have is not shown. */
function showReading(plot: uPlot, { data, onCursor }: DrawingState, reading: ReturnType<SharedTime['now']>): void {
  const atMs = reading?.atMs
  const found = atMs === undefined ? undefined : sliceAt(data.times, atMs)
  const startMs = found === undefined ? undefined : data.times[found]
  const isWithin = startMs !== undefined && atMs !== undefined && atMs < startMs + data.stepMs
  // A place on the border of two steps belongs to the later one.
  const left = isWithin ? plot.valToPos(Math.max(atMs, startMs + data.stepMs / 1_000), 'x') : -10
  // The types of the library lack the second argument: the step is known and need not be found by the place.
  const setCursor = plot.setCursor as (at: { left: number; top: number }, fires: boolean) => void
  setCursor({ left, top: isWithin ? 10 : -10 }, false)
  onCursor(isWithin ? found : undefined)
  markPart(plot, reading?.part)
}

const plain = unitText('number')

function summary({ series, times, stepMs }: ChartData, unit: (value: number) => string, marks: readonly ChartMark[]): string {
  let most: number | undefined
  for (const { values } of series) for (const value of values) if (value !== null && (most === undefined || value > most)) most = value
  return `${series.length} series of ${times.length} steps of ${span(stepMs)}${most === undefined ? ', without values' : `, at most ${unit(most)}`}${marks.length === 0 ? '' : `, ${quantity(marks.length, 'mark')}`}`
}

type PlotOptions = Omit<DrawingState, 'colors' | 'onRead'> & { shape: ChartShape; zone: Zone; height: number; time: SharedTime }

/** usePlot reuses one plot for new data and themes; a change of its form creates a new plot. */
function usePlot({ shape, zone, height, time, ...state }: PlotOptions) {
  const containerRef = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const colors = useChartColors()
  // The ref is the chart that reads: only it ends its reading.
  const read: DrawingState['onRead'] = (atMs, part) => (atMs === undefined ? time.release(plot) : time.read(plot, atMs, part))
  const latest = useRef<DrawingState>({ ...state, colors, onRead: read })
  latest.current = { ...state, colors, onRead: read }
  const { data, levels, bands, marks: moments } = state
  const canDrag = state.onRange !== undefined
  const form = JSON.stringify([shape, zone, height, canDrag, formOf(data, shape)])
  const marks = JSON.stringify([levels, bands, moments])
  const drawn = useRef<ChartData>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form contains every property of the plot
  useEffect(() => {
    const target = containerRef.current
    if (!target) return
    const size = { width: Math.max(1, target.clientWidth), height: target.clientHeight || height }
    const made = new uPlot(
      optionsOf({ shape, zone, size, canDrag, shown: () => latest.current }),
      plotted(latest.current.data, shape),
      target,
    )
    plot.current = made
    drawn.current = latest.current.data
    const resized = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight } = target
      if (width > 0 && (width !== made.width || clientHeight !== made.height)) made.setSize({ width, height: clientHeight })
    })
    resized.observe(target)
    return () => {
      time.release(plot)
      resized.disconnect()
      made.destroy()
      plot.current = null
      drawn.current = null
    }
  }, [form])
  // biome-ignore lint/correctness/useExhaustiveDependencies: thresholds affect the y range, so marks are repainted with the data
  useEffect(() => {
    if (drawn.current !== data) plot.current?.setData(plotted(data, shape))
    else plot.current?.redraw()
    drawn.current = data
  }, [data, shape, marks])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what others read is shown again where the drawing has changed
  useEffect(() => {
    const show = () => {
      const reading = time.now()
      if (plot.current && reading?.by !== plot) showReading(plot.current, latest.current, reading)
    }
    if (time.now()) show()
    return time.follow(show)
  }, [time, form, data])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme only repaints
  useEffect(() => plot.current?.redraw(false), [colors])
  return { containerRef, plot, read }
}
