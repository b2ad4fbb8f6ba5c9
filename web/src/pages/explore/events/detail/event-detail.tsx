import type { Event } from '@dendro/api'
import { Braces, Copy, Ellipsis, Link, type LucideIcon, Timer } from 'lucide-react'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { copyFromMenu } from '../../../../parts/shell/copied.ts'
import { Button } from '../../../../ui/button.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { menuItem } from '../../../../ui/menu-item.ts'
import { Popover } from '../../../../ui/popover.tsx'
import { HidePattern } from '../../patterns/hide-pattern.tsx'
import { HighlightedText } from '../find/highlighted-text.tsx'
import { type Highlights, plainLine, prettyJson } from '../find/line-text.ts'
import type { RowActions } from '../list/row-style.ts'
import { eventLink } from './event-link.ts'
import { FieldRows } from './field-rows.tsx'
import { fieldTree } from './field-tree.ts'
import { TraceLink } from './trace-link.tsx'
import type { ValueActions } from './value-menu.tsx'

type EventDetailProps = { event: Event; highlights: Highlights; actions: ValueActions; rowActions: RowActions; isPinned: boolean }

/** Limits the characters rendered; copying always copies the whole line. */
const RAW_SHOWN_MAX = 20_000
const FIELDS_SHOWN = 60

/** Shows all fields of an event with their actions, and the raw line. */
export function EventDetail({ event, highlights, actions, rowActions, isPinned }: EventDetailProps) {
  const [isAll, setAll] = useState(false)
  const raw = event['@raw'] ?? ''
  const fields = useMemo(() => [...Object.entries(event.message_kvs), ...Object.entries(event.attributes)], [event])
  const tree = useMemo(() => fieldTree(isAll ? fields : fields.slice(0, FIELDS_SHOWN)), [fields, isAll])
  const text = prettyJson(raw) ?? raw
  const onKey = (pressed: KeyboardEvent) => {
    // Escape in the menu closes the menu only.
    if (pressed.key !== 'Escape' || pressed.defaultPrevented) return
    pressed.stopPropagation()
    rowActions.toggle(event)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape anywhere inside closes it
    <div className="border-line border-t border-b bg-panel px-3 py-2 text-xs" onKeyDown={onKey}>
      <div className="mb-2 flex flex-wrap gap-1">
        <Button size="small" onClick={() => rowActions.showContext(event)} title="Show the events before and after (c)">
          Context
        </Button>
        <Button
          size="small"
          onClick={() => rowActions.pin(event)}
          aria-pressed={isPinned}
          title="Keep this event in view when the query changes (p)"
        >
          {isPinned ? 'Unpin' : 'Pin'}
        </Button>
        <TraceLink event={event} />
        <HidePattern event={event} actions={actions} />
        <EventMenu
          entries={[
            ['Copy link', Link, () => copyFromMenu(eventLink(event))],
            ['Copy line', Copy, () => copyFromMenu(raw)],
            ['Copy fields as JSON', Braces, () => copyFromMenu(JSON.stringify(Object.fromEntries(fields), undefined, 2))],
            ['Measure from here', Timer, () => rowActions.measureFrom(event)],
          ]}
        />
      </div>
      <table className="w-full table-fixed">
        <caption className="sr-only">Fields of this event</caption>
        <colgroup>
          <col className="w-1/3 md:w-56" />
          <col />
        </colgroup>
        <tbody>
          <FieldRows nodes={tree} depth={0} highlights={highlights} actions={actions} atMs={event.metadata.timestamp} />
        </tbody>
      </table>
      {fields.length > FIELDS_SHOWN && !isAll && (
        <Button size="small" className="mt-1" onClick={() => setAll(true)}>
          Show all {fields.length} fields
        </Button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard */}
      <pre tabIndex={0} className="mt-2 max-h-80 wrap-anywhere overflow-auto whitespace-pre-wrap rounded bg-sunk p-2 font-mono">
        <HighlightedText text={plainLine(text.slice(0, RAW_SHOWN_MAX))} highlights={highlights} onlyMatches />
        {text.length > RAW_SHOWN_MAX && ` … ${text.length - RAW_SHOWN_MAX} more characters; copy the line for the full text`}
      </pre>
    </div>
  )
}

type EventMenuProps = { entries: readonly (readonly [name: string, icon: LucideIcon, run: () => unknown])[] }

/** EventMenu has the less frequent actions of an event. */
function EventMenu({ entries }: EventMenuProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover
      label="Actions for this event"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size="small" aria-label="More actions for this event" title="Copy, measure times">
          <Icon of={Ellipsis} size="small" />
        </Button>
      }
    >
      <div className="flex w-52 max-w-full flex-col">
        {entries.map(([name, icon, run]) => (
          <button
            key={name}
            type="button"
            className={menuItem}
            onClick={() => {
              run()
              setOpen(false)
            }}
          >
            <Icon of={icon} className="text-soft" /> {name}
          </button>
        ))}
      </div>
    </Popover>
  )
}
