import type { Event } from '@dendro/api'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import { EventDetail } from './event-detail.tsx'
import { headOf, type Piece, piecesOf, plainLine, summaryOf } from './line-text.ts'
import type { ValueActions } from './value-menu.tsx'

export type RowLook = { zone: Zone; columns: readonly string[]; isWrapped: boolean; words: readonly string[]; nameOf(id: string): string }

type EventRowProps = {
  event: Event
  look: RowLook
  isOpen: boolean
  isCurrent: boolean
  actions: ValueActions
  onToggle(): void
  onContext(event: Event): void
}

const signs = {
  error: { letter: 'E', colour: 'text-error', edge: 'border-l-bar-error' },
  warn: { letter: 'W', colour: 'text-warn', edge: 'border-l-bar-warn' },
  info: { letter: 'I', colour: 'text-info', edge: 'border-l-transparent' },
} as const

export function EventRow({ event, look, isOpen, isCurrent, actions, onToggle, onContext }: EventRowProps) {
  const status = event['@status']
  const { letter, colour, edge } = signs[status]
  const { day, clock } = clockOf(event.metadata.timestamp, look.zone)
  return (
    <div className={`border-l-3 ${edge} ${isCurrent ? 'bg-tint' : ''}`}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button inside does the same by keyboard; a click anywhere is a comfort */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div
        className={`flex cursor-pointer items-start gap-2 px-2 py-0.5 font-mono text-xs hover:bg-tint ${look.isWrapped ? '' : 'whitespace-nowrap'}`}
        onClick={() => {
          if (!getSelection()?.toString()) onToggle()
        }}
      >
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${status} at ${day} ${clock}`}
          className={`w-4 shrink-0 text-center font-semibold ${colour}`}
          onClick={(click) => {
            click.stopPropagation()
            onToggle()
          }}
        >
          {letter}
        </button>
        <time className="shrink-0 text-soft tabular-nums" title={`${day} ${clock}`}>
          {clock}
        </time>
        <span className="w-28 shrink-0 truncate text-soft max-lg:hidden" title={look.nameOf(event.metadata.service_id)}>
          {look.nameOf(event.metadata.service_id)}
        </span>
        {look.columns.length > 0 ? <Cells event={event} columns={look.columns} /> : <Line event={event} look={look} />}
      </div>
      {isOpen && <EventDetail event={event} actions={actions} onContext={() => onContext(event)} />}
    </div>
  )
}

function Cells({ event, columns }: { event: Event; columns: readonly string[] }) {
  return columns.map((name) => {
    const value = event.message_kvs[name] ?? event.attributes[name]
    return (
      <span key={name} className="min-w-24 flex-1 truncate" title={value}>
        {value === undefined ? <span className="text-soft">–</span> : plainLine(value)}
      </span>
    )
  })
}

/** What of a line is put into the page while rows are one line high. */
const ONE_LINE_MAX = 600
const PAIR_MAX = 120
const marks: Record<Piece['kind'], string> = { plain: '', hit: 'bg-mark rounded-sm', number: 'text-accent', quoted: 'text-info' }

function Line({ event, look }: { event: Event; look: RowLook }) {
  const raw = event['@raw'] ?? ''
  const summary = summaryOf(raw, event.message_kvs)
  const { head, more, isCut } = headOf(summary?.said ?? raw)
  return (
    <span className={`min-w-0 flex-1 ${look.isWrapped ? 'break-all' : 'truncate'}`}>
      <Marked text={look.isWrapped ? head : head.slice(0, ONE_LINE_MAX)} words={look.words} />
      {isCut && <span className="text-soft"> …</span>}
      {more > 0 && <span className="ml-1 rounded bg-tint px-1 text-soft">+{more}</span>}
      {summary?.pairs.map(([name, value]) => (
        <span key={name} className="ml-3 text-soft">
          {name}=<span className="text-info">{plainLine(value).slice(0, PAIR_MAX)}</span>
        </span>
      ))}
    </span>
  )
}

function Marked({ text, words }: { text: string; words: readonly string[] }) {
  return piecesOf(text, words).map((piece, at) =>
    piece.kind === 'plain' ? (
      piece.text
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one line never change places
      <span key={at} className={marks[piece.kind]}>
        {piece.text}
      </span>
    ),
  )
}
