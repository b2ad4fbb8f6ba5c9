import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { FailureNote } from '../../parts/failure.tsx'
import { count, span } from '../../parts/numbers.ts'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import type { Bar, Bars } from './questions.ts'

type Stretch = { fromMs: number; toMs: number }

type HistogramProps = {
  bars: Bars | undefined
  isOld: boolean
  failure: unknown
  zone: Zone
  chosen: Stretch | undefined
  /** canReset says that the range is not the one that the page begins with. */
  canReset: boolean
  onChoose(stretch: Stretch | undefined): void
  onRange(stretch: Stretch): void
  onReset(): void
  again(): unknown
}

const HEIGHT = 96
const kinds = ['info', 'warn', 'error'] as const
const colours = { info: 'fill-bar-info', warn: 'fill-bar-warn', error: 'fill-bar-error' }

/** Histogram shows when the matching events were, by status. A click chooses a bar, a drag zooms into several; arrows and Enter do the same. */
export function Histogram(props: HistogramProps) {
  const { bars: data, isOld, failure, zone, chosen, onChoose, onRange, again } = props
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const [over, setOver] = useState<number>()
  if (failure && !data) return <FailureNote thrown={failure} again={again} />
  const bars = data?.bars ?? []
  const top = Math.max(1, ...bars.map(sumOf))
  const at = (event: PointerEvent<SVGSVGElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * bars.length)))
  }
  const choose = (one: Bar | undefined) => {
    if (!one || !data) return
    const stretch = { fromMs: one.fromMs, toMs: one.fromMs + data.stepMs }
    onChoose(chosen?.fromMs === stretch.fromMs && chosen.toMs === stretch.toMs ? undefined : stretch)
  }
  const finish = () => {
    if (!drag || !data) return
    const [first, last] = [bars[Math.min(drag.from, drag.to)], bars[Math.max(drag.from, drag.to)]]
    setDrag(undefined)
    if (first === last) choose(first)
    else if (first && last) onRange({ fromMs: first.fromMs, toMs: last.fromMs + data.stepMs })
  }
  const onKey = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : undefined
    if (by !== undefined) setOver((before) => Math.min(bars.length - 1, Math.max(0, (before ?? (by > 0 ? -1 : bars.length)) + by)))
    else if (event.key === 'Enter') choose(over === undefined ? undefined : bars[over])
    else if (event.key === 'Escape' && chosen) onChoose(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const shown = over === undefined ? undefined : bars[over]
  const marked = drag
    ? { from: Math.min(drag.from, drag.to), count: Math.abs(drag.to - drag.from) + 1 }
    : data && chosen && placeOf(chosen, data)
  return (
    <section aria-label="Events over time" className="border-line border-b px-3 pt-2 pb-1">
      <svg
        viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={`block h-24 w-full cursor-crosshair touch-none ${isOld ? 'opacity-50' : ''}`}
        role="img"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows and Enter choose a bar
        tabIndex={0}
        aria-label={data ? `${count(data.total)} events in steps of ${span(data.stepMs)}` : 'Counting'}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setDrag({ from: at(event), to: at(event) })
        }}
        onPointerMove={(event) => {
          setOver(at(event))
          if (drag) setDrag({ ...drag, to: at(event) })
        }}
        onPointerUp={finish}
        onPointerLeave={() => setOver(undefined)}
        onKeyDown={onKey}
      >
        {over !== undefined && <rect className="fill-ink/5" x={over} y={0} width={1} height={HEIGHT} />}
        {marked && <rect className="fill-accent/20" x={marked.from} y={0} width={marked.count} height={HEIGHT} />}
        {bars.map((bar, index) => (
          <Stack key={bar.fromMs} bar={bar} x={index} top={top} />
        ))}
      </svg>
      <div className="flex h-7 items-center justify-between gap-3 overflow-hidden whitespace-nowrap text-soft text-xs tabular-nums">
        <span>
          {bars[0] && clockOf(bars[0].fromMs, zone).day} {bars[0] && clockOf(bars[0].fromMs, zone).clock.slice(0, 8)}
        </span>
        <span className="truncate" aria-live="polite">
          {shown ? saying(shown, zone) : data && `a bar is ${span(data.stepMs)}`}
        </span>
        <Zooming {...props} />
        <span className="min-w-14 text-right max-sm:hidden">{data && bars.length > 0 && clockOf(endOf(data), zone).clock.slice(0, 8)}</span>
      </div>
    </section>
  )
}

/** Zooming goes into what was chosen, out to twice the range, and back to where the page began. */
function Zooming({ bars: data, chosen, canReset, onChoose, onRange, onReset }: HistogramProps) {
  const first = data?.bars[0]
  const out = () => {
    if (!data || !first) return
    const half = (endOf(data) - first.fromMs) / 2
    onRange({ fromMs: Math.max(0, first.fromMs - half), toMs: endOf(data) + half })
  }
  return (
    <span className="ml-auto flex gap-1">
      {chosen && (
        <>
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

const saying = (bar: Bar, zone: Zone): string =>
  `${clockOf(bar.fromMs, zone).clock.slice(0, 8)} · ${count(sumOf(bar))} events${bar.error ? ` · ${count(bar.error)} errors` : ''}${bar.warn ? ` · ${count(bar.warn)} warnings` : ''}`

function Stack({ bar, x, top }: { bar: Bar; x: number; top: number }) {
  let y = HEIGHT
  return kinds.map((kind) => {
    const height = bar[kind] === 0 ? 0 : Math.max(1, (bar[kind] / top) * (HEIGHT - 4))
    y -= height
    return height > 0 && <rect key={kind} className={colours[kind]} x={x + 0.08} y={y} width={0.84} height={height} />
  })
}
