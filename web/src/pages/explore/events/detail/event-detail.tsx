import type { Event } from '@dendro/api'
import { Braces, ChevronRight, Copy, Ellipsis, Link, type LucideIcon, Timer } from 'lucide-react'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { copyText } from '../../../../parts/shell/copy.ts'
import { Button } from '../../../../ui/button.tsx'
import { Icon } from '../../../../ui/icon.tsx'
import { menuItem } from '../../../../ui/menu-item.ts'
import { Popover } from '../../../../ui/popover.tsx'
import { HidePattern } from '../../patterns/hide-pattern.tsx'
import { HighlightedText } from '../find/highlighted-text.tsx'
import { type Highlights, plainLine, prettyJson } from '../find/line-text.ts'
import type { RowActions } from '../list/row-style.ts'
import { eventLink } from './event-link.ts'
import { type FieldBranch, type FieldLeaf, type FieldNode, fieldTree, nestedJson } from './field-tree.ts'
import { TraceLink } from './trace-link.tsx'
import { type ValueActions, ValueMenu } from './value-menu.tsx'

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
            ['Copy link', Link, () => copyText(eventLink(event))],
            ['Copy line', Copy, () => copyText(raw)],
            ['Copy fields as JSON', Braces, () => copyText(JSON.stringify(Object.fromEntries(fields), undefined, 2))],
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
          <Nodes nodes={tree} depth={0} highlights={highlights} actions={actions} atMs={event.metadata.timestamp} />
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

type NodesProps = { nodes: readonly FieldNode[]; depth: number; highlights: Highlights; actions: ValueActions; atMs: number }

const INDENT_PX = 14

function Nodes({ nodes, ...rest }: NodesProps) {
  return nodes.map((node) =>
    node.kind === 'leaf' ? (
      <FieldRow key={`= ${node.path}`} leaf={node} {...rest} />
    ) : (
      <FieldGroupRows key={node.path} branch={node} {...rest} />
    ),
  )
}

type NodeProps = Omit<NodesProps, 'nodes'>

/** The fields with a common prefix, under that prefix. */
function FieldGroupRows({ branch, depth, ...rest }: NodeProps & { branch: FieldBranch }) {
  const [isOpen, setOpen] = useState(true)
  return (
    <>
      <tr className="group/branch">
        <th scope="rowgroup" colSpan={2} className="py-0.5 text-left font-mono font-normal" style={{ paddingLeft: depth * INDENT_PX }}>
          <button type="button" aria-expanded={isOpen} className="rounded pr-1 hover:bg-tint" onClick={() => setOpen(!isOpen)}>
            <Icon of={ChevronRight} size="small" className={`inline-block text-soft transition-transform ${isOpen ? 'rotate-90' : ''}`} />
            {branch.name} <span className="font-sans text-soft">{branch.leaves} fields</span>
          </button>
          <button
            type="button"
            className="ml-2 rounded px-1 font-sans text-accent opacity-0 hover:underline focus:opacity-100 group-hover/branch:opacity-100"
            onClick={() => copyText(nestedJson(branch.inner))}
          >
            Copy {branch.path} as JSON
          </button>
        </th>
      </tr>
      {isOpen && <Nodes nodes={branch.inner} depth={depth + 1} {...rest} />}
    </>
  )
}

function FieldRow({ leaf: { name, path, value }, depth, highlights, actions, atMs }: NodeProps & { leaf: FieldLeaf }) {
  return (
    <tr className="align-top">
      <th
        scope="row"
        className="truncate py-0.5 pr-3 text-left font-mono font-normal text-soft"
        style={{ paddingLeft: depth * INDENT_PX + (depth > 0 ? 12 : 0) }}
        title={path}
        aria-label={path}
      >
        {name}
      </th>
      <td className="py-0.5">
        <ValueMenu
          name={path}
          value={value}
          actions={actions}
          atMs={atMs}
          className="max-h-40 max-w-full wrap-anywhere overflow-auto whitespace-pre-wrap font-mono"
        >
          {value === '' ? (
            <span className="text-soft">(empty)</span>
          ) : (
            <HighlightedText text={plainLine(prettyJson(value) ?? value)} highlights={highlights} onlyMatches />
          )}
        </ValueMenu>
      </td>
    </tr>
  )
}
