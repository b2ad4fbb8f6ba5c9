import { type KeyboardEvent, type PointerEvent, useState } from 'react'

const KEY = 'dendro.fields'
const PX_MIN = 140
const PX_MAX = 640
const STEP_PX = 16

const clamp = (px: number): number => Math.round(Math.min(PX_MAX, Math.max(PX_MIN, px)))

/** The width of the field list, stored in the browser. */
export function useFieldPaneWidth(defaultPx: number): [number, (px: number) => void] {
  const [width, setWidth] = useState(() => clamp(Number(localStorage.getItem(KEY)) || defaultPx))
  const store = (px: number) => {
    localStorage.setItem(KEY, String(clamp(px)))
    setWidth(clamp(px))
  }
  return [width, store]
}

/** Changes the width of a pane by dragging or by the arrow keys. */
export function ResizeHandle({ label, width, onWidth }: { label: string; width: number; onWidth(px: number): void }) {
  const [start, setStart] = useState<{ x: number; width: number }>()
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key]
    const next = by !== undefined ? width + by : event.key === 'Home' ? PX_MIN : event.key === 'End' ? PX_MAX : undefined
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onWidth(next)
  }
  const onMove = (event: PointerEvent) => {
    if (start) onWidth(start.width + event.clientX - start.x)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: <hr> cannot be dragged
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={PX_MIN}
      aria-valuemax={PX_MAX}
      tabIndex={0}
      title="Drag, or press the arrow keys"
      className="absolute inset-y-0 -right-1 z-20 w-2 cursor-col-resize touch-none hover:bg-accent/30"
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setStart({ x: event.clientX, width })
      }}
      onPointerMove={onMove}
      onPointerUp={() => setStart(undefined)}
      onPointerCancel={() => setStart(undefined)}
    />
  )
}
