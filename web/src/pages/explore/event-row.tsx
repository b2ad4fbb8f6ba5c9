import type { Event } from '@dendro/api'
import { memo } from 'react'
import { clockOf, type Zone } from '../../parts/time-range.ts'
import { EventDetail } from './event-detail.tsx'
import { cellStyle } from './heads.tsx'
import { headOf, type Piece, piecesOf, plainLine, summaryOf, traceLines } from './line-text.ts'
import { idOf } from './link.ts'
import { type ValueActions, ValueMenu } from './value-menu.tsx'

export type RowLook = {
  zone: Zone
  columns: readonly string[]
  widths: Readonly<Record<string, number>>
  isWrapped: boolean
  words: readonly string[]
  nameOf(id: string): string
}

type EventRowProps = {
  event: Event
  look: RowLook
  isOpen: boolean
  isCurrent: boolean
  actions: ValueActions
  onToggle(id: string): void
  onContext(event: Event): void
}

const signs = {
  error: { letter: 'E', colour: 'text-error', edge: 'border-l-bar-error' },
  warn: { letter: 'W', colour: 'text-warn', edge: 'border-l-bar-warn' },
  info: { letter: 'I', colour: 'text-info', edge: 'border-l-transparent' },
} as const

/** ROW_PX is exactly how high a row of one line is: a list that knows it before has nothing to move when it comes into sight. */
export const ROW_PX = 21

/** EventRow is drawn again only when something of its own has changed: a list is scrolled far more often than it is asked. */
export const EventRow = memo(function EventRow({ event, look, isOpen, isCurrent, actions, onToggle, onContext }: EventRowProps) {
  const status = event['@status']
  const { letter, colour, edge } = signs[status]
  const { day, clock } = clockOf(event.metadata.timestamp, look.zone)
  return (
    <div className={`border-l-3 ${edge} ${isCurrent ? 'bg-tint' : ''}`}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button inside does the same by keyboard; a click anywhere is a comfort */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div
        className={`flex cursor-pointer items-start gap-2 px-2 py-0.5 font-mono text-xs hover:bg-tint ${look.isWrapped ? '' : 'overflow-hidden whitespace-nowrap'}`}
        style={look.isWrapped ? undefined : { height: ROW_PX }}
        onClick={() => {
          if (!getSelection()?.toString()) onToggle(idOf(event))
        }}
      >
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${status} at ${day} ${clock}`}
          className={`w-4 shrink-0 text-center font-semibold ${colour}`}
          onClick={(click) => {
            click.stopPropagation()
            onToggle(idOf(event))
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
        {look.columns.length > 0 ? <Cells event={event} look={look} actions={actions} /> : <Line event={event} look={look} />}
      </div>
      {isOpen && <EventDetail event={event} actions={actions} onContext={() => onContext(event)} />}
    </div>
  )
})

function Cells({ event, look, actions }: { event: Event; look: RowLook; actions: ValueActions }) {
  return look.columns.map((name) => {
    const value = event.message_kvs[name] ?? event.attributes[name]
    return (
      <span
        key={name}
        className={`min-w-0 ${look.isWrapped ? 'break-all' : 'truncate'}`}
        style={cellStyle(look.widths[name])}
        title={value}
      >
        {value === undefined ? (
          <span className="text-soft">–</span>
        ) : (
          <ValueMenu name={name} value={value} actions={actions} className={`max-w-full ${look.isWrapped ? 'break-all' : 'truncate'}`}>
            {value === '' ? (
              <span className="text-soft">(empty)</span>
            ) : (
              plainLine(value).slice(0, look.isWrapped ? CELL_MAX : ONE_LINE_MAX)
            )}
          </ValueMenu>
        )}
      </span>
    )
  })
}

const CELL_MAX = 4_000

/** What of a line is put into the page while rows are one line high. */
const ONE_LINE_MAX = 600
const PAIR_MAX = 120
const marks: Record<Piece['kind'], string> = {
  plain: '',
  hit: 'bg-mark rounded-sm',
  number: 'text-accent',
  quoted: 'text-info',
  id: 'text-soft underline decoration-dotted underline-offset-2',
}

function Line({ event, look }: { event: Event; look: RowLook }) {
  const raw = event['@raw'] ?? ''
  const summary = summaryOf(raw, event.message_kvs)
  const { head, more: below, isCut } = headOf(summary?.said ?? raw)
  const more = below + traceLines(event.message_kvs)
  return (
    <span className={`min-w-0 flex-1 ${look.isWrapped ? 'break-all' : 'truncate'}`}>
      <Marked text={look.isWrapped ? head : head.slice(0, ONE_LINE_MAX)} words={look.words} />
      {isCut && <span className="text-soft"> …</span>}
      {more > 0 && (
        <span className="ml-1 rounded bg-tint px-1 text-soft" title={`${more} more lines`}>
          +{more}
        </span>
      )}
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
