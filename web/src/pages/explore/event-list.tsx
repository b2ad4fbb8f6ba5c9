import type { Event } from '@dendro/api'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { type Columns, widthIn } from './columns.ts'
import { EventRow, type GapFrom } from './event-row.tsx'
import { Heads } from './heads.tsx'
import { idOf, readSpot, spotId } from './link.ts'
import { ROW_PX } from './reading.ts'
import type { RowLook } from './row.ts'
import type { Rows } from './rows.ts'
import type { ValueActions } from './value-menu.tsx'

type EventListProps = {
  rows: Rows
  look: RowLook
  columns: Columns
  isOld: boolean
  actions: ValueActions
  pinned: ReadonlySet<string>
  /** mark is the event that times are measured from. */
  mark: string | undefined
  end: ReactNode
  /** onEnd is called when the last rows come into sight. */
  onEnd?(): void
  /** onTop says whether the first row is in sight, whenever that changes. */
  onTop?(isAtTop: boolean): void
  /** top changes when the list is to go back to its first row. */
  top: number
}

/** What stands before the columns of a row. */
const BEFORE_PX = 240
const GAP_PX = 72
/** OVERSCAN is how many rows on either side are there before they are seen: few, since each that comes into sight costs a part of a frame. */
const OVERSCAN = 8

/** EventList puts only what is in sight into the page, so that a hundred thousand rows weigh no more than forty. */
export function EventList(props: EventListProps) {
  const { rows, look, columns, isOld, end, onEnd, onTop, top } = props
  const { size } = rows.shown
  const place = useRef<HTMLElement>(null)
  const wasAtTop = useRef(true)
  const { keyAt } = rows
  const virtual = useVirtualizer({
    count: size + 1,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX[look.density],
    getItemKey: keyAt,
    overscan: OVERSCAN,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= size - 1 && size > 0) onEnd?.()
  }, [last, size, onEnd])
  useEffect(() => {
    if (rows.current >= 0) virtual.scrollToIndex(rows.current, { align: 'auto' })
  }, [rows.current, virtual])
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was measured holds for one look
  useEffect(() => virtual.measure(), [virtual, look.density, look.isWrapped])
  useEffect(() => {
    if (top > 0) place.current?.scrollTo({ top: 0 })
  }, [top])
  const onScroll = () => {
    const isAtTop = (place.current?.scrollTop ?? 0) < ROW_PX[look.density]
    if (isAtTop !== wasAtTop.current) onTop?.(isAtTop)
    wasAtTop.current = isAtTop
  }
  return (
    <section
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      aria-label="Events"
      className={`h-full overflow-auto ${isOld ? 'opacity-50' : ''}`}
      onScroll={onScroll}
    >
      <div style={columns.names.length > 0 ? { minWidth: widthOf(columns, look) } : undefined}>
        {columns.names.length > 0 && <Heads columns={columns} isGap={look.isGap} />}
        <div className="relative w-full" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute top-0 left-0 w-full"
              style={{ transform: `translateY(${start}px)` }}
            >
              {index < size ? <RowAt {...props} row={index} /> : end}
            </div>
          ))}
        </div>
      </div>
    </section>
  )
}

/** widthOf is what the columns need at least; a narrower page is scrolled sideways. */
function widthOf({ names, widths }: Columns, { isGap }: RowLook): number {
  return names.reduce((sum, name) => sum + 8 + (widthIn(widths, name) ?? 96), BEFORE_PX + (isGap ? GAP_PX : 0))
}

function RowAt({ rows, row, look, actions, pinned, mark }: EventListProps & { row: number }) {
  const event = rows.eventAt(row)
  if (!event) return null
  const times = rows.shown.timesAt(row)
  const next = rows.shown.indexAt(row + 1)
  return (
    <EventRow
      event={event}
      look={look}
      isOpen={rows.open.has(idOf(event))}
      isCurrent={row === rows.current || (rows.beside !== undefined && idOf(rows.beside) === idOf(event))}
      isPinned={pinned.has(idOf(event))}
      actions={actions}
      acts={rows.acts}
      times={times}
      isSpread={times > 1 && next === rows.shown.indexAt(row) + 1}
      {...gapOf(look, event, rows.eventAt(row - 1), mark)}
    />
  )
}

type Gap = { gapFrom?: GapFrom; gapMs?: number }

/** gapOf is the time from the row above, whichever of them was first, or from the event that was marked. */
function gapOf(look: RowLook, event: Event, above: Event | undefined, mark: string | undefined): Gap {
  if (!look.isGap) return {}
  const atMs = event.metadata.timestamp
  const spot = mark === undefined ? undefined : readSpot(mark)
  if (spot) return spotId(spot) === idOf(event) ? { gapFrom: 'here' } : { gapFrom: 'mark', gapMs: atMs - spot.timestamp }
  return above ? { gapFrom: 'above', gapMs: Math.abs(atMs - above.metadata.timestamp) } : {}
}
