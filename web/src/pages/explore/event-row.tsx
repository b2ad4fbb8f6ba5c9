import type { Event } from '@dendro/api'
import { memo, useState } from 'react'
import { span } from '../../parts/numbers.ts'
import { clockOf } from '../../parts/time-range.ts'
import { widthIn } from './columns.ts'
import { EventDetail } from './event-detail.tsx'
import { cellStyle } from './heads.tsx'
import { headOf, type Marking, piecesOf, plainLine, summaryOf, traceLines } from './line-text.ts'
import { Marked, PieceOf } from './marked.tsx'
import { keyOf, segmentsOf } from './pairs.ts'
import { type Density, ROW_PX } from './reading.ts'
import type { RowActs, RowLook } from './row.ts'
import { textOf } from './tray.ts'
import { type ValueActions, ValueInText, ValueMenu } from './value-menu.tsx'

type EventRowProps = {
  event: Event
  look: RowLook
  isOpen: boolean
  isCurrent: boolean
  isPinned: boolean
  actions: ValueActions
  acts: RowActs
  /** gapMs is how long after another event this one was, gapFrom which one; in parts, so that a row that has not changed is not drawn. */
  gapFrom?: GapFrom
  gapMs?: number
  /** times is how many events the row stands for. */
  times?: number
  isSpread?: boolean
}

/** GapFrom is what a time is counted from: the row above, the event that was marked, or this event is the marked one. */
export type GapFrom = 'above' | 'mark' | 'here'

const signs = {
  error: { letter: 'E', colour: 'text-error', edge: 'border-l-bar-error' },
  warn: { letter: 'W', colour: 'text-warn', edge: 'border-l-bar-warn' },
  info: { letter: 'I', colour: 'text-info', edge: 'border-l-transparent' },
} as const

const spacings: Record<Density, string> = {
  compact: 'text-[11px] leading-[17px]',
  normal: 'py-0.5 text-xs',
  roomy: 'py-1 text-[13px] leading-[21px]',
}

/** Mark is the status of an event as a letter. */
export const Mark = ({ status }: { status: Event['@status'] }) => (
  <span role="img" aria-label={status} className={`font-mono font-semibold ${signs[status].colour}`}>
    {signs[status].letter}
  </span>
)

/** EventRow is drawn again only when something of its own has changed: a list is scrolled far more often than it is asked. */
export const EventRow = memo(function EventRow(props: EventRowProps) {
  const { event, look, isOpen, isCurrent, isPinned, actions, acts, gapFrom, gapMs } = props
  const [isPointedAt, setPointedAt] = useState(false)
  const status = event['@status']
  const { letter, colour, edge } = signs[status]
  const { day, clock } = clockOf(event.metadata.timestamp, look.zone)
  return (
    <div className={`border-l-3 ${edge} ${isCurrent ? 'bg-tint' : ''}`} aria-current={isCurrent ? 'true' : undefined}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button inside does the same by keyboard; a click anywhere is a comfort */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div
        className={`relative flex cursor-pointer items-start gap-2 px-2 font-mono hover:bg-tint ${spacings[look.density]} ${look.isWrapped ? '' : 'overflow-hidden whitespace-nowrap'}`}
        style={look.isWrapped ? undefined : { height: ROW_PX[look.density] }}
        onMouseEnter={() => setPointedAt(true)}
        onMouseLeave={() => setPointedAt(false)}
        onClick={() => {
          if (!getSelection()?.toString()) acts.toggle(event)
        }}
      >
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${status} at ${day} ${clock}`}
          className={`w-4 shrink-0 text-center font-semibold ${colour}`}
          onClick={(click) => {
            click.stopPropagation()
            acts.toggle(event)
          }}
        >
          {letter}
        </button>
        <time className="shrink-0 text-soft tabular-nums" title={`${day} ${clock}`}>
          {clock}
        </time>
        {look.isGap && <Gap from={gapFrom} ms={gapMs} />}
        <span className="w-28 shrink-0 truncate text-soft max-lg:hidden" title={look.nameOf(event.metadata.service_id)}>
          {look.nameOf(event.metadata.service_id)}
        </span>
        <Times {...props} />
        {look.columns.length > 0 ? (
          <Cells event={event} look={look} actions={actions} />
        ) : (
          <Line event={event} look={look} actions={actions} />
        )}
        {(isPinned || isPointedAt) && <Pin event={event} isPinned={isPinned} acts={acts} />}
      </div>
      {isOpen && <EventDetail event={event} marking={look.marking} actions={actions} acts={acts} isPinned={isPinned} />}
    </div>
  )
})

function Gap({ from, ms = 0 }: { from: GapFrom | undefined; ms: number | undefined }) {
  const text = { above: span(ms), mark: `${ms < 0 ? '−' : '+'}${span(Math.abs(ms))}`, here: '0' }
  return (
    <span
      className={`w-[8ch] shrink-0 truncate text-right tabular-nums ${from === 'above' && ms < 1_000 ? 'text-soft' : 'text-accent'}`}
      data-gap
      title={from && gapTitles[from]}
    >
      {from && text[from]}
    </span>
  )
}

const gapTitles: Record<GapFrom, string> = {
  above: 'From the row above',
  mark: 'From the event that times are measured from',
  here: 'Times are measured from here',
}

function Times({ event, times = 1, isSpread = false, acts }: EventRowProps) {
  if (times < 2) return null
  return (
    <button
      type="button"
      aria-expanded={isSpread}
      title={isSpread ? 'One row for all of them' : 'Show them all'}
      className="shrink-0 rounded bg-tint px-1 text-ink tabular-nums hover:outline hover:outline-line"
      onClick={(click) => {
        click.stopPropagation()
        acts.spread(event)
      }}
    >
      ×{times}
    </button>
  )
}

/** Pin is there where it is on, and where somebody points: rows that are scrolled past are dearer with it. */
function Pin({ event, isPinned, acts }: { event: Event; isPinned: boolean; acts: RowActs }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-pressed={isPinned}
      aria-label={isPinned ? 'Unpin this event' : 'Pin this event'}
      title={isPinned ? 'Take it off the tray (p)' : 'Pin it to the tray (p)'}
      className={`absolute top-0 right-1 h-full max-h-5 rounded border border-line bg-panel px-1.5 ${isPinned ? 'text-accent' : 'text-soft hover:text-ink'}`}
      onClick={(click) => {
        click.stopPropagation()
        acts.pin(event)
      }}
    >
      <PinSign isPinned={isPinned} />
    </button>
  )
}

const PinSign = ({ isPinned }: { isPinned: boolean }) => (
  <svg aria-hidden viewBox="0 0 16 16" className={`size-3 stroke-current ${isPinned ? 'fill-current' : 'fill-none'}`} strokeWidth="1.4">
    <path d="M5.5 1.5h5l-.8 5 2.3 2.6H4l2.3-2.6z" />
    <path d="M8 9.5v5" />
  </svg>
)

function Cells({ event, look, actions }: { event: Event; look: RowLook; actions: ValueActions }) {
  return look.columns.map((name) => {
    const value = textOf(event, name)
    return (
      <span
        key={name}
        className={`min-w-0 ${look.isWrapped ? 'wrap-anywhere' : 'truncate'}`}
        style={cellStyle(widthIn(look.widths, name))}
        title={value}
      >
        {value === undefined ? (
          <span className="text-soft">–</span>
        ) : (
          <ValueMenu
            name={name}
            value={value}
            actions={actions}
            atMs={event.metadata.timestamp}
            className={`max-w-full ${look.isWrapped ? 'wrap-anywhere' : 'truncate'}`}
          >
            {value === '' ? (
              <span className="text-soft">(empty)</span>
            ) : (
              <Marked text={plainLine(value).slice(0, look.isWrapped ? CELL_MAX : ONE_LINE_MAX)} marking={look.marking} isBare />
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
type LineProps = { event: Event; look: RowLook; actions: ValueActions }

/** Line is what an event says on one row; every pair and id in it can be acted on. */
function Line({ event, look, actions }: LineProps) {
  const { message_kvs: keys, metadata } = event
  const raw = event['@raw'] ?? ''
  const summary = summaryOf(raw, keys)
  const { head, more: below, isCut } = headOf(summary?.said ?? raw)
  const more = below + traceLines(keys)
  const text = look.isWrapped ? head : head.slice(0, ONE_LINE_MAX)
  const value = { actions, atMs: metadata.timestamp }
  return (
    <span className={`min-w-0 flex-1 ${look.isWrapped ? 'wrap-anywhere' : 'truncate'}`}>
      {segmentsOf(text, keys).map(({ text: part, lead = 0, pair }, at) =>
        pair ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments of one line never change places
          <ValueInText key={at} {...pair} {...value}>
            <span className="text-soft">
              <Marked text={part.slice(0, lead)} marking={look.marking} isBare />
            </span>
            <span className="text-info">
              <Marked text={part.slice(lead)} marking={look.marking} isBare />
            </span>
          </ValueInText>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <MarkedIds key={at} text={part} marking={look.marking} keys={keys} {...value} />
        ),
      )}
      {isCut && <span className="text-soft"> …</span>}
      {more > 0 && (
        <span className="ml-1 rounded bg-tint px-1 text-soft" title={`${more} more ${more === 1 ? 'line' : 'lines'}`}>
          +{more}
        </span>
      )}
      {summary?.pairs.map(([name, text]) => (
        <span key={name} className="ml-3 text-soft">
          <ValueInText name={name} value={text} {...value}>
            {name}=
            <span className="text-info">
              <Marked text={plainLine(text).slice(0, PAIR_MAX)} marking={look.marking} isBare />
            </span>
          </ValueInText>
        </span>
      ))}
    </span>
  )
}

type MarkedIdsProps = { text: string; marking: Marking; keys: Readonly<Record<string, string>>; actions: ValueActions; atMs: number }

/** MarkedIds lets an id in free text be acted on: by its key where the event has one, as text where not. */
function MarkedIds({ text, marking, keys, actions, atMs }: MarkedIdsProps) {
  return piecesOf(text, marking).map((piece, at) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one line never change places
    if (piece.kind !== 'id') return <PieceOf key={at} piece={piece} />
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one line never change places
      <ValueInText key={at} name={keyOf(piece.text, keys)} value={piece.text} actions={actions} atMs={atMs}>
        <PieceOf piece={piece} />
      </ValueInText>
    )
  })
}
