import type { Event } from '@dendro/api'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { EventRow, type RowLook } from './event-row.tsx'
import type { ValueActions } from './value-menu.tsx'

export const idOf = ({ metadata }: Event): string => `${metadata.service_id} ${metadata.sequence}`

type EventListProps = {
  events: readonly Event[]
  look: RowLook
  open: ReadonlySet<string>
  current: number
  isOld: boolean
  actions: ValueActions
  end: ReactNode
  onToggle(id: string): void
  onContext(event: Event): void
  /** onEnd is called when the last rows come into sight. */
  onEnd?(): void
}

const ROW_PX = 21

/** EventList puts only what is in sight into the page, so that a hundred thousand rows weigh no more than forty. */
export function EventList(props: EventListProps) {
  const { events, look, open, current, isOld, actions, end, onToggle, onContext, onEnd } = props
  const place = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: events.length + 1,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => {
      const event = events[index]
      return event ? idOf(event) : 'end'
    },
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
  return (
    <section
      ref={place}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      aria-label="Events"
      className={`h-full overflow-auto ${isOld ? 'opacity-50' : ''}`}
    >
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
                  onToggle={() => onToggle(idOf(event))}
                  onContext={onContext}
                />
              ) : (
                end
              )}
            </div>
          )
        })}
      </div>
    </section>
  )
}
