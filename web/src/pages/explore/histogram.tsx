import { type PointerEvent, useState } from 'react'
import { FailureNote } from '../../parts/failure.tsx'
import { count, span } from '../../parts/numbers.ts'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import type { Bar, Bars } from './questions.ts'

type HistogramProps = {
  bars: Bars | undefined
  isOld: boolean
  failure: unknown
  zone: Zone
  onRange(fromMs: number, toMs: number): void
  again(): unknown
}

const HEIGHT = 96
const kinds = ['info', 'warn', 'error'] as const
const colours = { info: 'fill-bar-info', warn: 'fill-bar-warn', error: 'fill-bar-error' }

/** Histogram shows when the matching events were, by status. A bar is chosen by a click, several by a drag. */
export function Histogram({ bars: data, isOld, failure, zone, onRange, again }: HistogramProps) {
  const [drag, setDrag] = useState<{ from: number; to: number }>()
  const [over, setOver] = useState<number>()
  if (failure && !data) return <FailureNote thrown={failure} again={again} />
  const bars = data?.bars ?? []
  const top = Math.max(1, ...bars.map(sumOf))
  const at = (event: PointerEvent<SVGSVGElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * bars.length)))
  }
  const finish = () => {
    if (!drag || !data) return
    const [first, last] = [bars[Math.min(drag.from, drag.to)], bars[Math.max(drag.from, drag.to)]]
    setDrag(undefined)
    if (first && last) onRange(first.fromMs, last.fromMs + data.stepMs)
  }
  const shown = over === undefined ? undefined : bars[over]
  return (
    <section aria-label="Events over time" className="border-line border-b px-3 pt-2 pb-1">
      <svg
        viewBox={`0 0 ${Math.max(1, bars.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={`block h-24 w-full cursor-crosshair touch-none ${isOld ? 'opacity-50' : ''}`}
        role="img"
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
      >
        {drag && (
          <rect
            className="fill-accent/20"
            x={Math.min(drag.from, drag.to)}
            y={0}
            width={Math.abs(drag.to - drag.from) + 1}
            height={HEIGHT}
          />
        )}
        {bars.map((bar, index) => (
          <Stack key={bar.fromMs} bar={bar} x={index} top={top} />
        ))}
      </svg>
      <div className="flex h-5 items-center justify-between gap-3 overflow-hidden whitespace-nowrap text-soft text-xs tabular-nums">
        <span>
          {bars[0] && clockOf(bars[0].fromMs, zone).day} {bars[0] && clockOf(bars[0].fromMs, zone).clock.slice(0, 8)}
        </span>
        <span className="truncate">{shown ? saying(shown, zone) : data && `a bar is ${span(data.stepMs)}`}</span>
        <span>{data && bars.length > 0 && clockOf((bars.at(-1)?.fromMs ?? 0) + data.stepMs, zone).clock.slice(0, 8)}</span>
      </div>
    </section>
  )
}

const sumOf = ({ info, warn, error }: Bar): number => info + warn + error

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
