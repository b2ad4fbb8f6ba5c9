import { ArrowUp } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useMemo, useState, useSyncExternalStore } from 'react'
import { compact, quantity, span } from '../../../parts/chart/numbers.ts'
import type { SharedTime } from '../../../parts/chart/shared-time.ts'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { Icon } from '../../../ui/icon.tsx'
import { barScale, timeTicks } from './bar-scale.ts'
import { type Bar, type Bars, barSum, endOf, sumOfBars } from './bars.ts'
import type { TimeSpan } from './time-span.ts'

export const HEIGHT = 96
/** Keeps the label of a cut-off bar clear of the bars. */
const HEADROOM = 4
const CUT = 14
const kinds = ['info', 'warn', 'error'] as const
const colors = { info: 'fill-bar-info', warn: 'fill-bar-warn', error: 'fill-bar-error' }

export type BarChartProps = {
  bars: Bars | undefined
  /** The bars of the compared period and its label. */
  earlier?: { bars: Bars; name: string } | undefined
  isStale: boolean
  note: string | undefined
  zone: Zone
  selection: TimeSpan | undefined
  onSelect(timeSpan: TimeSpan | undefined): void
  /** The bar that is read, here or in a chart with the same time axis; self is this chart on that axis. */
  barIndex: number | undefined
  time: SharedTime
  self: object
}
type Drag = { from: number; to: number }

/** The bars and their pointer and keyboard handling, with the maximum, round times, and the counts of the bar under the pointer. */
export function BarChart(props: BarChartProps) {
  const { bars: data, earlier, zone, barIndex } = props
  const [isPointed, setPointed] = useState(false)
  const [drag, setDrag] = useState<Drag>()
  const bars = data?.bars ?? []
  const { top, giants } = useMemo(() => barScale(data?.bars.map(barSum) ?? [], earlier?.bars.bars.map(barSum)), [data, earlier])
  const bar = barIndex === undefined ? undefined : bars[barIndex]
  return (
    <div onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')} onPointerLeave={() => setPointed(false)}>
      <div className="relative">
        <BarSvg {...props} top={top} giants={giants} drag={drag} setDrag={setDrag} />
        {data && data.total > 0 && (
          <span
            className="pointer-events-none absolute top-0 left-0 rounded-sm bg-ground/80 px-0.5 text-row text-soft leading-3 tabular-nums"
            title="Maximum of the scale"
          >
            {compact(top)}
          </span>
        )}
        {[...giants].map((at) => {
          const giant = bars[at]
          return (
            giant && (
              <span
                key={giant.fromMs}
                data-giant
                className="pointer-events-none absolute top-0 -translate-x-1/2 whitespace-nowrap rounded-sm bg-panel px-0.5 font-medium text-row leading-3 tabular-nums"
                style={{ left: `${Math.min(97, Math.max(3, (100 * (at + 0.5)) / bars.length))}%` }}
              >
                <Icon of={ArrowUp} size="small" />
                {compact(barSum(giant))}
              </span>
            )
          )
        })}
        {isPointed && bar && data && barIndex !== undefined && !props.isStale && (
          <BarTooltip
            bars={drag ? bars.slice(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to) + 1) : [bar]}
            stepMs={data.stepMs}
            place={(barIndex + 0.5) / bars.length}
            zone={zone}
            before={drag ? undefined : earlierCount(earlier, barIndex)}
            isBelow={props.selection !== undefined}
          />
        )}
      </div>
      <TimeAxis data={data} zone={zone} />
    </div>
  )
}

const earlierCount = (earlier: BarChartProps['earlier'], at: number): string | undefined => {
  const bar = earlier?.bars.bars[at]
  return bar && earlier && `${quantity(barSum(bar), 'event')} ${earlier.name}`
}

/** Labels round times below the bars. A label at midnight is its day. */
function TimeAxis({ data, zone }: { data: Bars | undefined; zone: Zone }) {
  const [first] = data?.bars ?? []
  const ticks = useMemo(() => {
    if (!data || !first) return []
    const offsetMs = zone === 'utc' ? 0 : -new Date(first.fromMs).getTimezoneOffset() * 60_000
    return timeTicks(first.fromMs, endOf(data), offsetMs)
  }, [data, first, zone])
  const isFine = ticks.some(({ ms }) => ms % 60_000 !== 0)
  return (
    <div aria-hidden className="relative h-3.5 text-row text-soft leading-3.5 tabular-nums">
      {ticks.map(({ ms, at }) => {
        const { day, clock } = clockOf(ms, zone)
        return (
          <span key={ms} data-tick className="absolute -translate-x-1/2 whitespace-nowrap" style={{ left: `${100 * at}%` }}>
            {clock.startsWith('00:00:00') ? day.slice(5) : clock.slice(0, isFine ? 8 : 5)}
          </span>
        )
      })}
    </div>
  )
}

type BarTooltipProps = { bars: readonly Bar[]; stepMs: number; place: number; zone: Zone; before: string | undefined; isBelow: boolean }

/** BarTooltip has the time and the counts of a bar, or of all bars that are brushed, on the side where there is more space, and below the tools of a selection. */
function BarTooltip({ bars, stepMs, place, zone, before, isBelow }: BarTooltipProps) {
  const sum = sumOfBars(bars)
  const [from, to] = [clockOf(sum.fromMs, zone), clockOf((bars.at(-1)?.fromMs ?? 0) + stepMs, zone)]
  const isRight = place < 0.6
  return (
    <div
      aria-hidden
      data-tooltip
      className={`pointer-events-none absolute z-20 rounded-md border border-line bg-panel px-2 py-1 text-xs tabular-nums shadow-lg ${isBelow ? 'top-10' : 'top-0'}`}
      style={isRight ? { left: `calc(${100 * place}% + 10px)` } : { right: `calc(${100 * (1 - place)}% + 10px)` }}
    >
      <p className="whitespace-nowrap text-soft">
        {from.day} {from.clock.slice(0, 8)} – {to.clock.slice(0, 8)}
      </p>
      <p className="font-medium">{quantity(barSum(sum), 'event')}</p>
      {kinds.toReversed().map(
        (kind) =>
          sum[kind] > 0 && (
            <p key={kind} className="flex items-center gap-1.5">
              <svg viewBox="0 0 1 1" className="size-2" aria-hidden>
                <rect className={colors[kind]} width={1} height={1} />
              </svg>
              {quantity(sum[kind], kind)}
            </p>
          ),
      )}
      {before && <p className="text-soft">{before}</p>}
    </div>
  )
}

type BarSvgProps = BarChartProps & {
  top: number
  giants: ReadonlySet<number>
  drag: Drag | undefined
  setDrag(drag: Drag | undefined): void
}

function BarSvg(props: BarSvgProps) {
  const { bars: data, earlier, isStale, note, selection, onSelect, barIndex, time, self, top, giants, drag, setDrag } = props
  const bars = data?.bars ?? []
  const partElsewhere = useSyncExternalStore(time.follow, () => {
    const reading = time.now()
    return reading?.by === self ? undefined : reading?.part
  })
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
  /** Reads a moment, and brushes bars. */
  const read = (atMs: number | undefined, next: Drag | undefined) => {
    setDrag(next)
    if (atMs !== undefined) time.read(self, atMs, next && timeSpanOf(next))
  }
  const readMs = (index: number | undefined) => (index === undefined ? undefined : bars[index]?.fromMs)
  const placeOf = (event: PointerEvent<SVGSVGElement>): { index: number; atMs: number | undefined } => {
    const box = event.currentTarget.getBoundingClientRect()
    const at = ((event.clientX - box.left) / box.width) * bars.length
    const index = Math.min(bars.length - 1, Math.max(0, Math.floor(at)))
    const bar = bars[index]
    return { index, atMs: bar && data && bar.fromMs + Math.min(0.999, Math.max(0, at - index)) * data.stepMs }
  }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : undefined
    if (by !== undefined) {
      const next = Math.min(bars.length - 1, Math.max(0, (barIndex ?? (by > 0 ? -1 : bars.length)) + by))
      read(readMs(next), event.shiftKey ? { from: drag?.from ?? barIndex ?? next, to: next } : undefined)
    } else if (event.key === 'Enter' && drag) {
      finish()
      read(readMs(barIndex), undefined)
    } else if (event.key === 'Enter') select(barIndex === undefined ? undefined : timeSpanOf({ from: barIndex, to: barIndex }))
    else if (event.key === 'Escape' && drag) read(readMs(barIndex), undefined)
    else if (event.key === 'Escape' && selection) onSelect(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const marked = partElsewhere ?? selection
  const highlighted = drag
    ? { from: Math.min(drag.from, drag.to), count: Math.abs(drag.to - drag.from) + 1 }
    : data && marked && barRangeOf(marked, data)
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="block h-24 w-full cursor-crosshair touch-none"
      aria-busy={isStale}
      role="img"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys and Enter select a bar
      tabIndex={0}
      aria-label={data ? `${quantity(data.total, 'event')} in steps of ${span(data.stepMs)}` : (note ?? 'Counting')}
      // Without this a drag selects the text of the page, and the next key draws a focus frame around the chart.
      onMouseDown={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const { index, atMs } = placeOf(event)
        read(atMs, { from: index, to: index })
      }}
      onPointerMove={(event) => {
        const { index, atMs } = placeOf(event)
        read(atMs, drag && { ...drag, to: index })
      }}
      onPointerUp={() => {
        finish()
        // What was brushed is described below; a bar is read again when the pointer moves.
        time.release(self)
      }}
      onPointerCancel={() => {
        setDrag(undefined)
        time.release(self)
      }}
      onPointerLeave={() => time.release(self)}
      onKeyDown={onKey}
    >
      <title>Click selects a bar, drag selects several bars</title>
      {barIndex !== undefined && <rect className="fill-ink/5" x={barIndex} y={0} width={1} height={HEIGHT} />}
      {highlighted && (
        <rect
          data-brush={drag || partElsewhere ? '' : undefined}
          className="fill-accent/20"
          x={highlighted.from}
          y={0}
          width={highlighted.count}
          height={HEIGHT}
        />
      )}
      {earlier?.bars.bars.map((bar, index) => (
        <EarlierBar key={bar.fromMs} x={index} height={heightOf(barSum(bar), top)} />
      ))}
      {bars.map((bar, index) => (
        <StackedBar key={bar.fromMs} bar={bar} x={index} top={top} isGiant={giants.has(index)} />
      ))}
    </svg>
  )
}

/** A bar of the compared period, wider than the bar in front of it. */
function EarlierBar({ x, height }: { x: number; height: number }) {
  if (height === 0) return null
  return <rect data-earlier className="fill-ink/20" x={x} y={HEIGHT - height} width={1} height={height} />
}

export function barRangeOf(selection: TimeSpan, { bars, stepMs }: Bars): { from: number; count: number } | undefined {
  const start = bars[0]?.fromMs
  if (start === undefined || selection.toMs <= start) return undefined
  return { from: (selection.fromMs - start) / stepMs, count: (selection.toMs - selection.fromMs) / stepMs }
}

const heightOf = (count: number, top: number): number => Math.min(1, count / top) * (HEIGHT - HEADROOM)

/** A bar by status. A giant is cut off, with a gap below its upper end. */
function StackedBar({ bar, x, top, isGiant }: { bar: Bar; x: number; top: number; isGiant: boolean }) {
  const size = isGiant ? barSum(bar) : top
  let y = HEIGHT
  const parts = kinds.map((kind) => {
    const height = bar[kind] === 0 ? 0 : Math.max(1, heightOf(bar[kind], size))
    y -= height
    return height > 0 && <rect key={kind} className={colors[kind]} x={x + 0.08} y={y} width={0.84} height={height} />
  })
  return (
    <>
      {parts}
      {isGiant && <rect data-cut className="fill-ground" x={x} y={HEADROOM + CUT} width={1} height={2} />}
    </>
  )
}
