import type { Event } from '@dendro/api'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { clockOf } from '../../../../parts/time/time-range.ts'
import { eventId, eventRefId, readEventRef } from '../detail/event-link.ts'
import type { ValueActions } from '../detail/value-menu.tsx'
import type { NewSince } from '../live/live-tail.ts'
import { ColumnHeaders, columnPx, hasMessage } from './column-headers.tsx'
import type { Columns } from './columns.ts'
import { EventRow, type GapReference } from './event-row.tsx'
import { ROW_PX } from './row-options.ts'
import type { RowStyle } from './row-style.ts'
import type { Rows } from './rows.ts'

type EventListProps = {
  rows: Rows
  rowStyle: RowStyle
  columns: Columns
  isStale: boolean
  actions: ValueActions
  pinnedIds: ReadonlySet<string>
  /** Where the live list stood before the events above it came. */
  newSince?: NewSince | undefined
  /** The event that times are relative to. */
  gapAnchor: string | undefined
  end: ReactNode
  /** onEnd is called when the last rows become visible. */
  onEnd?(): void
  /** onTop is called when the first row becomes visible or hidden. */
  onTop?(isAtTop: boolean): void
  /** Changes when the list has to scroll to its first row. */
  scrollToTopCount: number
}

/** The width of the status, time and dataset in front of the columns. */
const BEFORE_PX = 240
const GAP_PX = 72
/** The least width of the message after the columns. */
const MESSAGE_PX = 248
/** How many rows are rendered beyond the visible ones. Few, since each row costs part of a frame while scrolling. */
const OVERSCAN = 8

/** Renders only the visible rows, so that a hundred thousand rows cost no more than forty. */
export function EventList(props: EventListProps) {
  const { rows, rowStyle, columns, isStale, end, onEnd, onTop, scrollToTopCount, newSince } = props
  const { size } = rows.rowMap
  const scroller = useRef<HTMLElement>(null)
  const wasAtTop = useRef(true)
  const { keyAt } = rows
  const virtualizer = useVirtualizer({
    count: size + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX[rowStyle.density],
    getItemKey: keyAt,
    overscan: OVERSCAN,
  })
  const items = virtualizer.getVirtualItems()
  const firstOld = newSince ? rowOfEvent(rows, newSince.id) : 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= size - 1 && size > 0) onEnd?.()
  }, [last, size, onEnd])
  const { current, source } = rows
  const scrolledSource = useRef(source)
  const event = rows.eventAt(current)
  const isOpen = event !== undefined && rows.open.has(eventId(event))
  // Another row is current, or the rows are those of another query.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a row that opens stays where it is
  useEffect(() => {
    const isOther = scrolledSource.current !== source
    scrolledSource.current = source
    // An open row may be higher than the list, and begins in view.
    if (current >= 0) virtualizer.scrollToIndex(current, { align: isOpen ? 'start' : 'auto' })
    else if (isOther) virtualizer.scrollToOffset(0)
  }, [current, source, virtualizer])
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured heights depend on the row style
  useEffect(() => virtualizer.measure(), [virtualizer, rowStyle.density, rowStyle.isWrapped])
  useEffect(() => {
    if (scrollToTopCount > 0) scroller.current?.scrollTo({ top: 0 })
  }, [scrollToTopCount])
  const onScroll = () => {
    const isAtTop = (scroller.current?.scrollTop ?? 0) < ROW_PX[rowStyle.density]
    if (isAtTop !== wasAtTop.current) onTop?.(isAtTop)
    wasAtTop.current = isAtTop
  }
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
      tabIndex={0}
      aria-label="Events"
      className="h-full min-h-0 flex-1 overflow-auto"
      aria-busy={isStale}
      onScroll={onScroll}
    >
      <div style={columns.names.length > 0 ? { minWidth: widthOf(rowStyle) } : undefined}>
        {columns.names.length > 0 && <ColumnHeaders columns={columns} rowStyle={rowStyle} />}
        <div className="relative w-full" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              className="absolute top-0 left-0 w-full"
              style={{ transform: `translateY(${start}px)` }}
            >
              {index < size ? (
                <>
                  {newSince && index === firstOld && index > 0 && <NewSinceLine newSince={newSince} rowStyle={rowStyle} />}
                  <div className={index < firstOld ? 'bg-accent/8' : undefined}>
                    <ListRow {...props} row={index} />
                  </div>
                </>
              ) : (
                end
              )}
            </div>
          ))}
        </div>
      </div>
    </section>
  )
}

/** The row of an event, 0 where it is not in the list any more. */
function rowOfEvent({ rowMap, eventAt }: Rows, id: string): number {
  for (let row = 0; row < rowMap.size; row += 1) {
    const event = eventAt(row)
    if (event && eventId(event) === id) return row
  }
  return 0
}

/** Divides the events that came after the last pause of a live list from those before. */
function NewSinceLine({ newSince, rowStyle }: { newSince: NewSince; rowStyle: RowStyle }) {
  return (
    <p className="flex items-center gap-2 px-2 text-accent text-xs tabular-nums before:h-px before:flex-1 before:bg-accent after:h-px after:flex-1 after:bg-accent">
      New since {clockOf(newSince.atMs, rowStyle.zone).clock.slice(0, 8)}
    </p>
  )
}

/** The minimum width of the columns; a narrower page scrolls horizontally. */
function widthOf(rowStyle: RowStyle): number {
  const fixedPx = BEFORE_PX + (rowStyle.hasGaps ? GAP_PX : 0) + (hasMessage(rowStyle) ? MESSAGE_PX : 0)
  return rowStyle.columns.reduce((sum, name) => sum + 8 + columnPx(name, rowStyle), fixedPx)
}

function ListRow({ rows, row, rowStyle, actions, pinnedIds, gapAnchor }: EventListProps & { row: number }) {
  const event = rows.eventAt(row)
  if (!event) return null
  const repeats = rows.rowMap.repeatsAt(row)
  const next = rows.rowMap.indexAt(row + 1)
  return (
    <EventRow
      event={event}
      rowStyle={rowStyle}
      isOpen={rows.open.has(eventId(event))}
      isCurrent={row === rows.current || (rows.panelEvent !== undefined && eventId(rows.panelEvent) === eventId(event))}
      isPinned={pinnedIds.has(eventId(event))}
      actions={actions}
      rowActions={rows.rowActions}
      repeats={repeats}
      isExpanded={repeats > 1 && next === rows.rowMap.indexAt(row) + 1}
      {...rowGapOf(rowStyle, event, rows.eventAt(row - 1), gapAnchor)}
    />
  )
}

type RowGap = { gapReference?: GapReference; gapMs?: number }

/** The time between a row and the row above, or the time since the marked event. */
function rowGapOf(rowStyle: RowStyle, event: Event, above: Event | undefined, gapAnchor: string | undefined): RowGap {
  if (!rowStyle.hasGaps) return {}
  const atMs = event.metadata.timestamp
  const eventRef = gapAnchor === undefined ? undefined : readEventRef(gapAnchor)
  if (eventRef)
    return eventRefId(eventRef) === eventId(event) ? { gapReference: 'here' } : { gapReference: 'mark', gapMs: atMs - eventRef.timestamp }
  return above ? { gapReference: 'above', gapMs: Math.abs(atMs - above.metadata.timestamp) } : {}
}
