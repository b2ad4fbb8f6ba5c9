import { durationText } from '@dendro/language/nanoseconds'
import { type PointerEvent, useRef, useState } from 'react'
import { partBetween, placeIn, type ShownPart, ticksIn } from './shown-part.ts'

type TimeAxisProps = {
  part: ShownPart
  /** The width of the column before the bars, where there is one. */
  indent?: string
  end?: string
  onShow(part: ShownPart): void
}

const HINT = 'Drag over the times to zoom; z zooms to the selected span, Z out'

/** The times above the bars. Dragging over it shows a part of the trace. */
export function TimeAxis({ part, indent, end, onShow }: TimeAxisProps) {
  const [dragged, setDragged] = useState<{ from: number; to: number }>()
  const axis = useRef<HTMLDivElement>(null)
  const placeOf = ({ clientX }: PointerEvent): number => {
    const box = axis.current?.getBoundingClientRect()
    return box && box.width > 0 ? Math.min(1, Math.max(0, (clientX - box.left) / box.width)) : 0
  }
  return (
    <div className="flex h-7 items-stretch border-line border-b text-row text-soft">
      {indent !== undefined && (
        <span className="shrink-0 self-center truncate px-2 max-sm:invisible" style={{ width: indent }} title={HINT}>
          {HINT}
        </span>
      )}
      <div
        ref={axis}
        aria-hidden
        title={HINT}
        className="@container relative min-w-0 flex-1 cursor-col-resize touch-none select-none overflow-hidden"
        onPointerDown={(event) => {
          if (event.button !== 0) return
          event.currentTarget.setPointerCapture(event.pointerId)
          const at = placeOf(event)
          setDragged({ from: at, to: at })
        }}
        onPointerMove={(event) => dragged && setDragged({ ...dragged, to: placeOf(event) })}
        onPointerUp={() => {
          const next = dragged && partBetween(part, dragged.from, dragged.to)
          if (next) onShow(next)
          setDragged(undefined)
        }}
        onPointerCancel={() => setDragged(undefined)}
      >
        {ticksIn(part).map((nano) => (
          <span
            key={nano}
            // Where there is no room for all labels, every other is left out.
            className="absolute inset-y-0 flex items-center whitespace-nowrap border-line border-l pl-1 tabular-nums @max-2xs:even:hidden"
            style={{ left: `${placeIn(part, nano)}%` }}
          >
            {nano === 0 ? '0' : durationText(nano)}
          </span>
        ))}
        {dragged && (
          <span
            className="absolute inset-y-0 bg-tint opacity-70"
            style={{ left: `${100 * Math.min(dragged.from, dragged.to)}%`, width: `${100 * Math.abs(dragged.to - dragged.from)}%` }}
          />
        )}
      </div>
      {end !== undefined && <div className="shrink-0" style={{ width: end }} />}
    </div>
  )
}
