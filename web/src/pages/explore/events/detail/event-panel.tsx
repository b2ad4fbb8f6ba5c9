import type { Event } from '@dendro/api'
import { clockOf } from '../../../../parts/time/time-range.ts'
import { Button } from '../../../../ui/button.tsx'
import { StatusSymbol } from '../list/event-row.tsx'
import type { RowActions, RowStyle } from '../list/row-style.ts'
import { EventDetail } from './event-detail.tsx'
import { eventId } from './event-link.ts'
import type { ValueActions } from './value-menu.tsx'

type EventPanelProps = { event: Event; rowStyle: RowStyle; actions: ValueActions; rowActions: RowActions; isPinned: boolean }

/** Shows the details of one event beside the list. The keys j and k move to the next and previous event. */
export function EventPanel({ event, rowStyle, actions, rowActions, isPinned }: EventPanelProps) {
  const { day, clock } = clockOf(event.metadata.timestamp, rowStyle.zone)
  return (
    <aside
      aria-label="Event details"
      className="flex w-[32rem] max-w-[60%] shrink-0 flex-col border-line border-l bg-panel max-md:absolute max-md:inset-0 max-md:z-20 max-md:w-full max-md:max-w-full"
    >
      <header className="flex items-center gap-2 px-3 py-1 text-xs">
        <StatusSymbol status={event['@status']} />
        <h2 className="min-w-0 truncate font-mono tabular-nums">
          {day} {clock} <span className="text-soft">{rowStyle.datasetName(event.metadata.service_id)}</span>
        </h2>
        <Button size="small" variant="quiet" className="ml-auto" onClick={() => rowActions.toggle(event)}>
          Close
        </Button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard */}
      <div tabIndex={0} className="min-h-0 flex-1 overflow-auto">
        <EventDetail
          key={eventId(event)}
          event={event}
          highlights={rowStyle.highlights}
          actions={actions}
          rowActions={rowActions}
          isPinned={isPinned}
        />
      </div>
    </aside>
  )
}
