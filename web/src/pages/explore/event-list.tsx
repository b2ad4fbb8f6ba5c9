import type { Event } from '@dendro/api'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useRef } from 'react'
import type { Columns } from './columns.ts'
import { EventRow, ROW_PX, type RowLook } from './event-row.tsx'
import { Heads } from './heads.tsx'
import { idOf } from './link.ts'
import type { ValueActions } from './value-menu.tsx'

type EventListProps = {
  events: readonly Event[]
  look: RowLook
  columns: Columns
  open: ReadonlySet<string>
  current: number
  isOld: boolean
  actions: ValueActions
  end: ReactNode
  onToggle(id: string): void
  onContext(event: Event): void
  /** onEnd is called when the last rows come into sight. */
  onEnd?(): void
  /** onTop says whether the first row is in sight, whenever that changes. */
  onTop?(isAtTop: boolean): void
  /** top changes when the list is to go back to its first row. */
  top: number
}

/** What stands before the columns of a row. */
const BEFORE_PX = 240

/** EventList puts only what is in sight into the page, so that a hundred thousand rows weigh no more than forty. */
export function EventList(props: EventListProps) {
  const { events, look, columns, open, current, isOld, actions, end, onToggle, onContext, onEnd, onTop, top } = props
  const place = useRef<HTMLElement>(null)
  const wasAtTop = useRef(true)
  // Another function here would have every row placed anew, all two hundred thousand of them: this one changes with the events alone.
  const keyOf = useCallback((index: number) => events[index]?.metadata.sequence ?? 'end', [events])
  const rows = useVirtualizer({
    count: events.length + 1,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    getItemKey: keyOf,
    overscan: 20,
  })
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= events.length - 1 && events.length > 0) onEnd?.()
  }, [last, events.length, onEnd])
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current, { align: 'auto' })
  }, [current, rows])
  useEffect(() => {
    if (top > 0) place.current?.scrollTo({ top: 0 })
  }, [top])
  const onScroll = () => {
    const isAtTop = (place.current?.scrollTop ?? 0) < ROW_PX
    if (isAtTop !== wasAtTop.current) onTop?.(isAtTop)
    wasAtTop.current = isAtTop
  }
  const widest = columns.names.reduce((sum, name) => sum + 8 + (columns.widths[name] ?? 96), BEFORE_PX)
  return (
    <section
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      aria-label="Events"
      className={`h-full overflow-auto ${isOld ? 'opacity-50' : ''}`}
      onScroll={onScroll}
    >
      <div style={columns.names.length > 0 ? { minWidth: widest } : undefined}>
        {columns.names.length > 0 && <Heads columns={columns} />}
        <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {items.map((item) => {
            const event = events[item.index]
            return (
              <div
                key={item.key}
                ref={rows.measureElement}
                data-index={item.index}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {event ? (
                  <EventRow
                    event={event}
                    look={look}
                    isOpen={open.has(idOf(event))}
                    isCurrent={item.index === current}
                    actions={actions}
                    onToggle={onToggle}
                    onContext={onContext}
                  />
                ) : (
                  end
                )}
              </div>
            )
          })}
        </div>
      </div>
    </section>
  )
}
