import { ArrowDown, ArrowUp, Move, MoveDiagonal2 } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, type RefObject, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { COLUMNS, put, swapped, type WidgetPlacement } from './layout.ts'
import { ROW_PX } from './widget-card.tsx'

const GAP_PX = 12

type ArrangeKind = 'place' | 'size'
type Arrangement = {
  /** The element that holds the widgets. */
  grid: RefObject<HTMLDivElement | null>
  /** The current positions, including those of a drag in progress. */
  places: readonly WidgetPlacement[]
  isDragged(id: string): boolean
  /** Starts with the pointer; step handles an arrow key. */
  drag(id: string, what: ArrangeKind): (event: PointerEvent) => void
  step(id: string, what: ArrangeKind): (event: KeyboardEvent) => void
  shift(id: string, by: -1 | 1): void
}

const steps: ReadonlyMap<string, [number, number]> = new Map(
  Object.entries<[number, number]>({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }),
)

/** useArrangement moves and resizes widgets: a pointer drag is saved when it ends, an arrow key at once. */
export function useArrangement(kept: readonly WidgetPlacement[], keep: (places: WidgetPlacement[]) => Promise<void>): Arrangement {
  const grid = useRef<HTMLDivElement>(null)
  const [drawn, setDrawn] = useState<{ id: string; places: WidgetPlacement[] }>()
  const places = drawn?.places ?? kept
  const changed = (from: readonly WidgetPlacement[], place: WidgetPlacement, what: ArrangeKind, [x, y]: [number, number]) =>
    put(from, place.id, what === 'place' ? { x: place.x + x, y: place.y + y } : { w: place.w + x, h: place.h + y })
  const last = useRef<WidgetPlacement[]>(null)
  const arrange = (id: string, next: WidgetPlacement[]) => {
    last.current = next
    setDrawn({ id, places: next })
    // A gesture that has started meanwhile continues.
    void keep(next).finally(() => last.current === next && setDrawn(undefined))
  }
  return {
    grid,
    places,
    isDragged: (id) => drawn?.id === id,
    drag: (id, what) => (event) => {
      // The drawn position, which includes a change that is still being saved.
      const from = places
      const place = from.find((one) => one.id === id)
      const box = grid.current?.getBoundingClientRect()
      if (!place || !box || event.button !== 0) return
      const column = (box.width + GAP_PX) / COLUMNS
      const [startX, startY] = [event.clientX, event.clientY - box.top]
      let next: WidgetPlacement[] | undefined
      const follow = (now: globalThis.PointerEvent) => {
        // Relative to the grid, which may have scrolled since the start.
        const top = grid.current?.getBoundingClientRect().top ?? 0
        const by: [number, number] = [Math.round((now.clientX - startX) / column), Math.round((now.clientY - top - startY) / ROW_PX)]
        next = changed(from, place, what, by)
        last.current = next
        setDrawn({ id, places: next })
      }
      const end = (now: globalThis.PointerEvent) => {
        removeEventListener('pointermove', follow)
        removeEventListener('pointerup', end)
        removeEventListener('pointercancel', end)
        if (next && now.type === 'pointerup') arrange(id, next)
        else setDrawn(undefined)
      }
      addEventListener('pointermove', follow)
      addEventListener('pointerup', end)
      addEventListener('pointercancel', end)
    },
    step: (id, what) => (event) => {
      const [place, by] = [places.find((one) => one.id === id), steps.get(event.key)]
      if (!place || !by) return
      event.preventDefault()
      arrange(id, changed(places, place, what, by))
    },
    shift: (id, by) => arrange(id, swapped(kept, id, by)),
  }
}

type GripsProps = { name: string; id: string; isFirst: boolean; isLast: boolean; arranged: Arrangement }

/** Grips move a widget: a drag handle in the grid, arrow buttons in the single-column layout. */
export function Grips({ name, id, isFirst, isLast, arranged }: GripsProps) {
  return (
    <span className="flex items-center gap-1">
      <span className="contents lg:hidden">
        <Button size="small" disabled={isFirst} aria-label={`Move ${name} forward`} onClick={() => arranged.shift(id, -1)}>
          <Icon of={ArrowUp} size="small" />
        </Button>
        <Button size="small" disabled={isLast} aria-label={`Move ${name} back`} onClick={() => arranged.shift(id, 1)}>
          <Icon of={ArrowDown} size="small" />
        </Button>
      </span>
      <button
        type="button"
        aria-label={`Move ${name}`}
        title="Drag, or press the arrow keys"
        className="hidden h-6.5 cursor-grab touch-none select-none items-center rounded border border-line px-2 text-soft hover:border-soft hover:text-ink lg:inline-flex"
        onPointerDown={arranged.drag(id, 'place')}
        onKeyDown={arranged.step(id, 'place')}
      >
        <Icon of={Move} size="small" />
      </button>
    </span>
  )
}

/** Resizes a widget. */
export function Corner({ name, id, arranged }: Pick<GripsProps, 'name' | 'id' | 'arranged'>) {
  return (
    <button
      type="button"
      aria-label={`Resize ${name}`}
      title="Drag, or press the arrow keys"
      className="absolute right-0 bottom-0 hidden h-6 w-6 cursor-nwse-resize touch-none select-none place-items-center rounded-tl bg-tint text-ink text-xs lg:grid"
      onPointerDown={arranged.drag(id, 'size')}
      onKeyDown={arranged.step(id, 'size')}
    >
      <Icon of={MoveDiagonal2} size="small" />
    </button>
  )
}
