import { durationText } from '@dendro/language/nanoseconds'
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { quantity } from '../../parts/chart/numbers.ts'
import { between, durationsOf, type Picked, pickedSteps, type Step, stepAt } from './picked-durations.ts'

type DurationHistogramProps = {
  steps: readonly Step[]
  min: string | undefined
  max: string | undefined
  onPick(durations: { min: string | undefined; max: string | undefined }): void
}

const HEIGHT_PX = 72
/** Few bars do not become blocks. */
const BAR_MAX_REM = 10

/** Counts spans by duration; dragging over it, or the arrow keys with Shift, select durations. */
export function DurationHistogram({ steps, min, max, onPick }: DurationHistogramProps) {
  const [dragged, setDragged] = useState<{ anchor: number; at: number }>()
  const [focused, setFocused] = useState(0)
  const bars = useRef<HTMLDivElement>(null)
  const chosen = pickedSteps(steps, min, max)
  const picked = dragged ? between(dragged.anchor, dragged.at) : chosen
  const most = steps.reduce((largest, { spans }) => Math.max(largest, spans), 1)
  const current = Math.min(focused, steps.length - 1)
  const pick = (next: Picked) => onPick(isSame(next, chosen) ? { min: undefined, max: undefined } : durationsOf(steps, next))
  const placeOf = ({ clientX }: PointerEvent) => {
    const box = bars.current?.getBoundingClientRect()
    return box ? stepAt(steps.length, clientX - box.left, box.width) : 0
  }
  const focus = (at: number) => {
    setFocused(at)
    bars.current?.querySelectorAll('button')[at]?.focus()
  }
  const onKey = (event: KeyboardEvent) => {
    const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: steps.length - 1 }[event.key]
    if (event.key === 'Escape' && chosen) onPick({ min: undefined, max: undefined })
    else if (next === undefined) return
    else {
      const at = Math.min(steps.length - 1, Math.max(0, next))
      if (event.shiftKey) {
        const inside = chosen && chosen.first >= 0 ? chosen : { first: current, last: current }
        onPick(durationsOf(steps, between(inside.first === current ? inside.last : inside.first, at)))
      }
      focus(at)
    }
    event.preventDefault()
  }
  return (
    <div className="min-w-0" style={{ maxWidth: `${BAR_MAX_REM * steps.length}rem` }}>
      <div
        ref={bars}
        role="toolbar"
        aria-label="Spans by duration"
        className="flex touch-none select-none items-end gap-px"
        style={{ height: HEIGHT_PX }}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = placeOf(event)
          setDragged({ anchor: at, at })
        }}
        onPointerMove={(event) => dragged && setDragged({ ...dragged, at: placeOf(event) })}
        onPointerUp={() => {
          if (dragged) pick(between(dragged.anchor, dragged.at))
          setDragged(undefined)
        }}
        onPointerCancel={() => setDragged(undefined)}
      >
        {steps.map((step, at) => (
          <button
            key={step.from_nano}
            type="button"
            tabIndex={at === current ? 0 : -1}
            aria-pressed={picked !== undefined && at >= picked.first && at <= picked.last}
            aria-label={labelOf(step)}
            title={labelOf(step)}
            onFocus={() => setFocused(at)}
            // A click with the pointer has ended as a drag.
            onClick={({ detail }) => detail === 0 && pick({ first: at, last: at })}
            className={`flex h-full min-w-0 flex-1 flex-col justify-end rounded-t-sm hover:bg-sunk ${picked && (at < picked.first || at > picked.last) ? 'opacity-35' : ''}`}
          >
            <span className="block w-full bg-bar-error" style={{ height: heightOf(step.errors, most) }} />
            <span className="block w-full bg-bar-info" style={{ height: heightOf(step.spans - step.errors, most) }} />
          </button>
        ))}
      </div>
      <div aria-hidden className="flex gap-px border-line border-t text-row text-soft">
        {steps.map(({ from_nano }) => (
          <span key={from_nano} className="h-4 min-w-0 flex-1 overflow-visible whitespace-nowrap">
            {isLabeled(from_nano) ? durationText(from_nano) : ''}
          </span>
        ))}
      </div>
    </div>
  )
}

const isSame = (one: Picked, other: Picked | undefined): boolean => one.first === other?.first && one.last === other.last

const labelOf = ({ from_nano, to_nano, spans, errors }: Step): string =>
  `${durationText(from_nano)} ${to_nano === undefined ? 'and more' : `to ${durationText(to_nano)}`}: ${quantity(spans, 'span')}${errors > 0 ? `, ${errors} failed` : ''}`

/** Every count has a height that is seen. */
const heightOf = (spans: number, most: number): string => (spans === 0 ? '0' : `max(2px, ${(100 * spans) / most}%)`)

/** True for powers of ten. */
const isLabeled = (nanos: number): boolean => nanos > 0 && Number.isInteger(Math.log10(nanos))
