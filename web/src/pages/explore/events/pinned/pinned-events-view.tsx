import type { Event } from '@dendro/api'
import { X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { CopyButton } from '../../../../parts/shell/copy-button.tsx'
import { clockOf } from '../../../../parts/time/time-range.ts'
import { Button } from '../../../../ui/button.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { SidePanel } from '../../../../ui/side-panel.tsx'
import { eventId } from '../detail/event-link.ts'
import { type ValueActions, ValueMenu } from '../detail/value-menu.tsx'
import { firstLineOf, plainLine } from '../find/line-text.ts'
import { StatusSymbol } from '../list/event-row.tsx'
import type { RowStyle } from '../list/row-style.ts'
import { comparedFields, type FieldComparison, markdownOf, PINNED_MAX, type PinnedEvents } from './pinned-events.ts'

type PinnedEventsViewProps = { pinned: PinnedEvents; rowStyle: RowStyle; actions: ValueActions; onContext(event: Event): void }

const LINE_MAX = 400

/** Lists the pinned events below the results, to copy, compare and open them. */
export function PinnedEventsView({ pinned, rowStyle, actions, onContext }: PinnedEventsViewProps) {
  const [isComparing, setComparing] = useState(false)
  const { events } = pinned
  return (
    <section aria-label="Pinned events" className="flex max-h-[35%] min-h-0 shrink-0 flex-col border-line border-t-2 bg-panel">
      <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-1 px-3 py-1 text-xs">
        <h2 className="mr-auto font-medium">
          {events.length} pinned {events.length === 1 ? 'event' : 'events'}
          {events.length >= PINNED_MAX && (
            <span className="font-normal text-soft">; limit reached: the next pin replaces the earliest event</span>
          )}
        </h2>
        <Button
          size="small"
          disabled={events.length < 2}
          onClick={() => setComparing(true)}
          title="Compare the fields of at least two events"
        >
          Compare
        </Button>
        <CopyButton size="small" text={markdownOf(events, rowStyle)} title="Copy as a table for chats, tickets and reports">
          Copy as Markdown
        </CopyButton>
        <Button size="small" variant="quiet" onClick={pinned.clear}>
          Clear
        </Button>
      </div>
      <ul className="min-h-0 overflow-auto border-line border-t font-mono text-xs">
        {events.map((event) => (
          <PinnedRow
            key={eventId(event)}
            event={event}
            rowStyle={rowStyle}
            onRemove={() => pinned.toggle(event)}
            onContext={() => onContext(event)}
          />
        ))}
      </ul>
      {isComparing && events.length > 1 && (
        <FieldComparisonPanel events={events} rowStyle={rowStyle} actions={actions} onClose={() => setComparing(false)} />
      )}
    </section>
  )
}

type PinnedRowProps = { event: Event; rowStyle: RowStyle; onRemove(): void; onContext(): void }

function PinnedRow({ event, rowStyle, onRemove, onContext }: PinnedRowProps) {
  const { day, clock } = clockOf(event.metadata.timestamp, rowStyle.zone)
  const { head } = firstLineOf(event['@raw'] ?? '')
  return (
    <li className="flex items-center gap-2 px-3 py-0.5 hover:bg-tint">
      <StatusSymbol status={event['@status']} />
      <button
        type="button"
        className="shrink-0 text-soft tabular-nums hover:underline"
        title="Show the events before and after"
        onClick={onContext}
      >
        <span className="max-sm:hidden">{day} </span>
        {clock}
      </button>
      <span className="w-28 shrink-0 truncate text-soft max-lg:hidden">{rowStyle.datasetName(event.metadata.service_id)}</span>
      <span className="min-w-0 flex-1 truncate">{head.slice(0, LINE_MAX)}</span>
      <button
        type="button"
        aria-label={`Unpin the event at ${day} ${clock}`}
        title="Unpin"
        className="shrink-0 rounded px-1.5 text-soft hover:bg-sunk hover:text-ink"
        onClick={onRemove}
      >
        <Icon of={X} size="small" />
      </button>
    </li>
  )
}

type FieldComparisonPanelProps = { events: readonly Event[]; rowStyle: RowStyle; actions: ValueActions; onClose(): void }

/** Shows the fields of events side by side, differences first. */
function FieldComparisonPanel({ events, rowStyle, actions, onClose }: FieldComparisonPanelProps) {
  const [showsAll, setShowsAll] = useState(true)
  const fields = useMemo(() => comparedFields(events), [events])
  const differenceCount = fields.filter(({ isSame }) => !isSame).length
  const actionsThatClose = closingAfter(actions, onClose)
  return (
    <SidePanel
      title={`${events.length} events side by side`}
      actions={
        <>
          <p className="text-soft text-xs">
            {differenceCount === 0 ? 'No field differs' : `${differenceCount} of ${fields.length} fields differ`}
          </p>
          <Button aria-pressed={!showsAll} variant={showsAll ? 'plain' : 'chosen'} onClick={() => setShowsAll(!showsAll)}>
            Only differences
          </Button>
        </>
      }
      onClose={onClose}
    >
      <table aria-label="Fields of the pinned events" className="min-w-full text-xs">
        <thead className="sticky top-0 z-10 bg-panel text-left align-top">
          <tr>
            <th className="sticky left-0 bg-panel px-3 py-1 font-medium text-soft">Field</th>
            {events.map((event) => (
              <EventHeader key={eventId(event)} event={event} rowStyle={rowStyle} />
            ))}
          </tr>
        </thead>
        <tbody className="font-mono">
          {fields
            .filter(({ isSame }) => showsAll || !isSame)
            .map((one) => (
              <FieldComparisonRow key={one.name} compared={one} events={events} actions={actionsThatClose} />
            ))}
        </tbody>
      </table>
    </SidePanel>
  )
}

function EventHeader({ event, rowStyle }: { event: Event; rowStyle: RowStyle }) {
  const { day, clock } = clockOf(event.metadata.timestamp, rowStyle.zone)
  return (
    <th className="min-w-48 px-3 py-1 font-normal">
      <span className="block font-mono tabular-nums">
        <StatusSymbol status={event['@status']} /> {day} {clock}
      </span>
      <span className="block text-soft">{rowStyle.datasetName(event.metadata.service_id)}</span>
    </th>
  )
}

function FieldComparisonRow({ compared, events, actions }: { compared: FieldComparison; events: readonly Event[]; actions: ValueActions }) {
  const { name, values, isSame } = compared
  return (
    <tr className="border-line border-t align-top" data-same={isSame}>
      <th scope="row" className="wrap-anywhere sticky left-0 min-w-28 max-w-56 bg-ground px-3 py-1 text-left font-normal text-soft">
        {name}
      </th>
      {events.map((event, at) => (
        <td key={eventId(event)} className={`min-w-48 max-w-96 px-3 py-1 ${isSame ? 'text-soft' : 'bg-mark/40'}`}>
          <Value name={name} value={values[at]} atMs={event.metadata.timestamp} actions={actions} />
        </td>
      ))}
    </tr>
  )
}

const VALUE_MAX = 2_000

function Value({
  name,
  value,
  atMs,
  actions,
}: {
  name: string
  value: string | undefined
  atMs: number | undefined
  actions: ValueActions
}) {
  if (value === undefined) return <span className="text-soft">(absent)</span>
  return (
    <ValueMenu name={name} value={value} atMs={atMs} actions={actions} className="max-w-full wrap-anywhere whitespace-pre-wrap">
      {value === '' ? <span className="text-soft">(empty)</span> : plainLine(value).slice(0, VALUE_MAX)}
    </ValueMenu>
  )
}

/** Closes the panel after an action, since the action changes the page below. */
function closingAfter(actions: ValueActions, close: () => void): ValueActions {
  const andClose =
    <A extends unknown[]>(actionsThatClose: (...args: A) => void) =>
    (...args: A) => {
      close()
      actionsThatClose(...args)
    }
  return {
    include: andClose(actions.include),
    exclude: andClose(actions.exclude),
    only: andClose(actions.only),
    includeAny: andClose(actions.includeAny),
    excludeAny: andClose(actions.excludeAny),
    addClauses: andClose(actions.addClauses),
    removeClause: andClose(actions.removeClause),
    addColumn: andClose(actions.addColumn),
    groupBy: andClose(actions.groupBy),
    follow: andClose(actions.follow),
  }
}
