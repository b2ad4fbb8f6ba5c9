import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react'
import { FailureNote } from '../../parts/failure.tsx'
import { change, count, quantity, span } from '../../parts/numbers.ts'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { likeBars } from './compare.ts'
import type { Bar, Bars } from './questions.ts'

type Stretch = { fromMs: number; toMs: number }

type HistogramProps = {
  bars: Bars | undefined
  /** earlier are the bars of the time that these are compared with, under the name of that time. */
  earlier?: { bars: Bars; name: string } | undefined
  isOld: boolean
  failure: unknown
  zone: Zone
  chosen: Stretch | undefined
  /** canReset says that the range is not the one that the page begins with. */
  canReset: boolean
  /** over is drawn over the bars, tools stand below them. */
  over?: ReactNode
  tools?: ReactNode
  onChoose(stretch: Stretch | undefined): void
  onRange(stretch: Stretch): void
  onReset(): void
  onDifference(): void
  again(): unknown
}

const HEIGHT = 96
const kinds = ['info', 'warn', 'error'] as const
const colours = { info: 'fill-bar-info', warn: 'fill-bar-warn', error: 'fill-bar-error' }
const KEY = 'dendro.histogram'

/** Histogram shows when the matching events were, by status. A click chooses a bar, a drag zooms into several, with Shift it chooses them; arrows and Enter do the same. */
export function Histogram(props: HistogramProps) {
  const { bars: data, failure, zone, again, over, tools } = props
  const [isClosed, setClosed] = useState(() => localStorage.getItem(KEY) === 'closed')
  const [at, setAt] = useState<number>()
  const fold = () => {
    localStorage.setItem(KEY, isClosed ? 'open' : 'closed')
    setClosed(!isClosed)
  }
  const bars = data?.bars ?? []
  const shown = at === undefined ? undefined : bars[at]
  return (
    <section aria-label="Events over time" className="border-line border-b px-3 pt-1 pb-1">
      {failure && !data ? (
        <div className="-mx-2 mt-1 overflow-y-auto" style={isClosed ? undefined : { height: HEIGHT }}>
          <FailureNote thrown={failure} again={again} isSmall />
        </div>
      ) : null}
      {!isClosed && !(failure && !data) && (
        <div className="relative mt-1">
          <Drawing {...props} at={at} setAt={setAt} />
          {over}
        </div>
      )}
      <div className="flex min-h-7 flex-wrap items-center gap-x-3 whitespace-nowrap text-soft text-xs tabular-nums">
        <Button size="small" look="quiet" aria-expanded={!isClosed} className="-ml-2" onClick={fold}>
          <span aria-hidden>{isClosed ? '▸' : '▾'}</span>
          <span className="sr-only">Histogram</span>
        </Button>
        <span className="min-w-32 max-sm:hidden">
          {bars[0] && clockOf(bars[0].fromMs, zone).day} {bars[0] && clockOf(bars[0].fromMs, zone).clock.slice(0, 8)}
        </span>
        <span className="min-w-0 flex-1 truncate max-sm:order-1 max-sm:basis-40" aria-live="polite">
          {shown ? saying(shown, zone, at, props.earlier) : data ? summary(data, props.earlier) : failure ? '' : 'Counting …'}
        </span>
        {tools}
        <Zooming {...props} />
        <span className="min-w-14 text-right max-md:hidden">{data && bars.length > 0 && clockOf(endOf(data), zone).clock.slice(0, 8)}</span>
      </div>
    </section>
  )
}

/** summary is what is said while no bar is pointed at: how long a bar is, and how much more or less there is than at the time compared with. */
function summary(data: Bars, earlier: HistogramProps['earlier']): string {
  const step = `a bar is ${span(data.stepMs)}`
  if (!earlier) return step
  const { now, before } = likeBars(data, earlier.bars)
  return `${step} · ${change(now, before)} against ${earlier.name}`
}

type DrawingProps = HistogramProps & {
  at: number | undefined
  setAt(at: number | undefined | ((before: number | undefined) => number)): void
}
type Drag = { from: number; to: number; isChoice: boolean }

/** Drawing is the bars themselves, and what the pointer and the keys do with them. */
function Drawing({ bars: data, earlier, isOld, chosen, onChoose, onRange, at, setAt }: DrawingProps) {
  const [drag, setDrag] = useState<Drag>()
  const bars = data?.bars ?? []
  const top = Math.max(1, ...bars.map(sumOf), ...(earlier?.bars.bars.map(sumOf) ?? []))
  const stretchOf = ({ from, to }: Pick<Drag, 'from' | 'to'>): Stretch | undefined => {
    const [first, last] = [bars[Math.min(from, to)], bars[Math.max(from, to)]]
    return first && last && data && { fromMs: first.fromMs, toMs: last.fromMs + data.stepMs }
  }
  const choose = (stretch: Stretch | undefined) => {
    if (!stretch) return
    onChoose(chosen?.fromMs === stretch.fromMs && chosen.toMs === stretch.toMs ? undefined : stretch)
  }
  const finish = () => {
    const stretch = drag && stretchOf(drag)
    setDrag(undefined)
    if (!drag || !stretch) return
    if (drag.from === drag.to || drag.isChoice) choose(stretch)
    else onRange(stretch)
  }
  const placed = (event: PointerEvent<SVGSVGElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * bars.length)))
  }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : undefined
    if (by !== undefined) {
      const next = Math.min(bars.length - 1, Math.max(0, (at ?? (by > 0 ? -1 : bars.length)) + by))
      setAt(next)
      setDrag(event.shiftKey ? { from: drag?.from ?? at ?? next, to: next, isChoice: true } : undefined)
    } else if (event.key === 'Enter' && drag) finish()
    else if (event.key === 'Enter') choose(at === undefined ? undefined : stretchOf({ from: at, to: at }))
    else if (event.key === 'Escape' && drag) setDrag(undefined)
    else if (event.key === 'Escape' && chosen) onChoose(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const marked = drag
    ? { from: Math.min(drag.from, drag.to), count: Math.abs(drag.to - drag.from) + 1 }
    : data && chosen && placeOf(chosen, data)
  return (
    <svg
      viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={`block h-24 w-full cursor-crosshair touch-none ${isOld ? 'opacity-50' : ''}`}
      role="img"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows and Enter choose a bar
      tabIndex={0}
      aria-label={data ? `${quantity(data.total, 'event')} in steps of ${span(data.stepMs)}` : 'Counting'}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDrag({ from: placed(event), to: placed(event), isChoice: event.shiftKey })
      }}
      onPointerMove={(event) => {
        setAt(placed(event))
        if (drag) setDrag({ ...drag, to: placed(event) })
      }}
      onPointerUp={finish}
      onPointerCancel={() => setDrag(undefined)}
      onPointerLeave={() => setAt(undefined)}
      onKeyDown={onKey}
    >
      <title>A click chooses a bar, a drag zooms; with Shift it chooses several bars</title>
      {at !== undefined && <rect className="fill-ink/5" x={at} y={0} width={1} height={HEIGHT} />}
      {marked && <rect className="fill-accent/20" x={marked.from} y={0} width={marked.count} height={HEIGHT} />}
      {earlier?.bars.bars.map((bar, index) => (
        <Earlier key={bar.fromMs} x={index} height={(sumOf(bar) / top) * (HEIGHT - 4)} />
      ))}
      {bars.map((bar, index) => (
        <Stack key={bar.fromMs} bar={bar} x={index} top={top} />
      ))}
    </svg>
  )
}

/** Earlier is a bar of the time compared with: behind the bar of now, with an edge that is seen before it too. */
function Earlier({ x, height }: { x: number; height: number }) {
  if (height === 0) return null
  return <rect data-earlier className="fill-ink/20" x={x} y={HEIGHT - height} width={1} height={height} />
}

/** Zooming goes into what was chosen, out to twice the range, and back to where the page began. */
function Zooming({ bars: data, chosen, canReset, onChoose, onRange, onReset, onDifference }: HistogramProps) {
  const first = data?.bars[0]
  const out = () => {
    if (!data || !first) return
    const half = (endOf(data) - first.fromMs) / 2
    onRange({ fromMs: Math.max(0, first.fromMs - half), toMs: endOf(data) + half })
  }
  return (
    <span className="ml-auto flex flex-wrap gap-x-1 max-sm:order-2">
      {chosen && (
        <>
          <Button size="small" look="quiet" title="How this stretch differs from the rest of the range" onClick={onDifference}>
            What is different
          </Button>
          <Button size="small" look="quiet" onClick={() => onRange(chosen)}>
            Zoom in
          </Button>
          <Button size="small" look="quiet" onClick={() => onChoose(undefined)}>
            Whole range
          </Button>
        </>
      )}
      <Button size="small" look="quiet" disabled={!data} onClick={out}>
        Zoom out
      </Button>
      {canReset && (
        <Button size="small" look="quiet" onClick={onReset}>
          Reset
        </Button>
      )}
    </span>
  )
}

const sumOf = ({ info, warn, error }: Bar): number => info + warn + error
const endOf = ({ bars, stepMs }: Bars): number => (bars.at(-1)?.fromMs ?? 0) + stepMs

function placeOf(chosen: Stretch, { bars, stepMs }: Bars): { from: number; count: number } | undefined {
  const start = bars[0]?.fromMs
  if (start === undefined || chosen.toMs <= start) return undefined
  return { from: (chosen.fromMs - start) / stepMs, count: (chosen.toMs - chosen.fromMs) / stepMs }
}

function saying(bar: Bar, zone: Zone, at: number | undefined, earlier: HistogramProps['earlier']): string {
  const like = at === undefined ? undefined : earlier?.bars.bars[at]
  return [
    `${clockOf(bar.fromMs, zone).clock.slice(0, 8)} · ${quantity(sumOf(bar), 'event')}`,
    ...(bar.error ? [quantity(bar.error, 'error')] : []),
    ...(bar.warn ? [quantity(bar.warn, 'warning')] : []),
    ...(like && earlier ? [`${count(sumOf(like))} ${earlier.name}`] : []),
  ].join(' · ')
}

function Stack({ bar, x, top }: { bar: Bar; x: number; top: number }) {
  let y = HEIGHT
  return kinds.map((kind) => {
    const height = bar[kind] === 0 ? 0 : Math.max(1, (bar[kind] / top) * (HEIGHT - 4))
    y -= height
    return height > 0 && <rect key={kind} className={colours[kind]} x={x + 0.08} y={y} width={0.84} height={height} />
  })
}
