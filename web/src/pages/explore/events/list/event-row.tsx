import type { Event } from '@dendro/api'
import { memo, useState } from 'react'
import { span } from '../../../../parts/chart/numbers.ts'
import { clockOf } from '../../../../parts/time/time-range.ts'
import { EventDetail } from '../detail/event-detail.tsx'
import { type ValueActions, ValueInText, ValueMenu } from '../detail/value-menu.tsx'
import { HighlightedText, PieceText } from '../find/highlighted-text.tsx'
import { fieldWithValue, segmentsOf } from '../find/line-pairs.ts'
import { firstLineOf, type Highlights, piecesOf, plainLine, summaryOf, traceLines } from '../find/line-text.ts'
import { fieldValueOf } from '../pinned/pinned-events.ts'
import { cellStyle, hasMessage, MESSAGE_CLASS } from './column-headers.tsx'
import { type Density, ROW_PX } from './row-options.ts'
import type { RowActions, RowStyle } from './row-style.ts'

type EventRowProps = {
  event: Event
  rowStyle: RowStyle
  isOpen: boolean
  isCurrent: boolean
  isPinned: boolean
  actions: ValueActions
  rowActions: RowActions
  /** gapMs is the time since the event that gapReference names. Two plain props, so that memo skips unchanged rows. */
  gapReference?: GapReference
  gapMs?: number
  /** The number of events that the row stands for. */
  repeats?: number
  isExpanded?: boolean
}

/** The start of a gap: the row above, or the marked event; `here` is the marked event itself. */
export type GapReference = 'above' | 'mark' | 'here'

const statusStyles = {
  error: { symbol: 'E', color: 'text-error', border: 'border-l-bar-error' },
  warn: { symbol: 'W', color: 'text-warn', border: 'border-l-bar-warn' },
  info: { symbol: 'I', color: 'text-info', border: 'border-l-transparent' },
} as const

const spacings: Record<Density, string> = {
  compact: 'text-row',
  normal: 'py-0.5 text-xs',
  roomy: 'py-1 text-sm',
}

/** The initial of a status. */
export const StatusSymbol = ({ status }: { status: Event['@status'] }) => (
  <span role="img" aria-label={status} className={`font-mono font-semibold ${statusStyles[status].color}`}>
    {statusStyles[status].symbol}
  </span>
)

/** EventRow is memoized: scrolling is far more frequent than new results. */
export const EventRow = memo(function EventRow(props: EventRowProps) {
  const { event, rowStyle, isOpen, isCurrent, isPinned, actions, rowActions, gapReference, gapMs } = props
  const [isHovered, setHovered] = useState(false)
  const status = event['@status']
  const { symbol, color, border } = statusStyles[status]
  const { day, clock } = clockOf(event.metadata.timestamp, rowStyle.zone)
  return (
    <div className={`border-l-3 ${border} ${isCurrent ? 'bg-tint' : ''}`} aria-current={isCurrent ? 'true' : undefined}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button inside does the same by keyboard */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div
        className={`relative flex cursor-pointer items-start gap-2 px-2 font-mono hover:bg-tint ${spacings[rowStyle.density]} ${rowStyle.isWrapped ? '' : 'overflow-hidden whitespace-nowrap'}`}
        style={rowStyle.isWrapped ? undefined : { height: ROW_PX[rowStyle.density] }}
        onMouseEnter={() => setHovered(true)}
        onMouseLeave={() => setHovered(false)}
        onClick={() => {
          if (!getSelection()?.toString()) rowActions.toggle(event)
        }}
      >
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${status} at ${day} ${clock}`}
          className={`w-4 shrink-0 text-center font-semibold ${color}`}
          onClick={(click) => {
            click.stopPropagation()
            rowActions.toggle(event)
          }}
        >
          {symbol}
        </button>
        <time className="shrink-0 text-soft tabular-nums" title={`${day} ${clock}`}>
          {clock}
        </time>
        {rowStyle.hasGaps && <TimeGap from={gapReference} ms={gapMs} />}
        {rowStyle.hasDataset && (
          <span className="w-28 shrink-0 truncate text-soft max-lg:hidden" title={rowStyle.datasetName(event.metadata.service_id)}>
            {rowStyle.datasetName(event.metadata.service_id)}
          </span>
        )}
        <RepeatButton {...props} />
        <Cells event={event} rowStyle={rowStyle} actions={actions} />
        {hasMessage(rowStyle) && <EventLine event={event} rowStyle={rowStyle} actions={actions} />}
        {(isPinned || isHovered) && <PinButton event={event} isPinned={isPinned} rowActions={rowActions} />}
      </div>
      {isOpen && (
        <EventDetail event={event} highlights={rowStyle.highlights} actions={actions} rowActions={rowActions} isPinned={isPinned} />
      )}
    </div>
  )
})

function TimeGap({ from, ms = 0 }: { from: GapReference | undefined; ms: number | undefined }) {
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

const gapTitles: Record<GapReference, string> = {
  above: 'Time since the row above',
  mark: 'Time since the marked event',
  here: 'Times are relative to this event',
}

function RepeatButton({ event, repeats = 1, isExpanded = false, rowActions }: EventRowProps) {
  if (repeats < 2) return null
  return (
    <button
      type="button"
      aria-expanded={isExpanded}
      title={isExpanded ? 'Collapse into one row' : 'Show all rows'}
      className="shrink-0 rounded bg-tint px-1 text-ink tabular-nums hover:outline hover:outline-line"
      onClick={(click) => {
        click.stopPropagation()
        rowActions.toggleRun(event)
      }}
    >
      ×{repeats}
    </button>
  )
}

/** PinButton is rendered only for pinned and hovered rows, which keeps scrolling cheap. */
function PinButton({ event, isPinned, rowActions }: { event: Event; isPinned: boolean; rowActions: RowActions }) {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-pressed={isPinned}
      aria-label={isPinned ? 'Unpin this event' : 'Pin this event'}
      title={isPinned ? 'Unpin (p)' : 'Pin (p)'}
      className={`absolute top-0 right-1 h-full max-h-5 rounded border border-line bg-panel px-1.5 ${isPinned ? 'text-accent' : 'text-soft hover:text-ink'}`}
      onClick={(click) => {
        click.stopPropagation()
        rowActions.pin(event)
      }}
    >
      <PinIcon isPinned={isPinned} />
    </button>
  )
}

const PinIcon = ({ isPinned }: { isPinned: boolean }) => (
  <svg aria-hidden viewBox="0 0 16 16" className={`size-3 stroke-current ${isPinned ? 'fill-current' : 'fill-none'}`} strokeWidth="1.4">
    <path d="M5.5 1.5h5l-.8 5 2.3 2.6H4l2.3-2.6z" />
    <path d="M8 9.5v5" />
  </svg>
)

function Cells({ event, rowStyle, actions }: { event: Event; rowStyle: RowStyle; actions: ValueActions }) {
  return rowStyle.columns.map((name) => {
    const value = fieldValueOf(event, name)
    return (
      <span
        key={name}
        className={`min-w-0 ${rowStyle.isWrapped ? 'wrap-anywhere' : 'truncate'}`}
        style={cellStyle(name, rowStyle)}
        data-cell={name}
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
            className={`max-w-full ${rowStyle.isWrapped ? 'wrap-anywhere' : 'truncate'}`}
          >
            {value === '' ? (
              <span className="text-soft">(empty)</span>
            ) : (
              <HighlightedText
                text={plainLine(value).slice(0, rowStyle.isWrapped ? CELL_MAX : ONE_LINE_MAX)}
                highlights={rowStyle.highlights}
                onlyMatches
              />
            )}
          </ValueMenu>
        )}
      </span>
    )
  })
}

const CELL_MAX = 4_000

/** Limits the characters rendered in rows of one line. */
const ONE_LINE_MAX = 600
const PAIR_MAX = 120
/** Characters of Hebrew, Arabic and their neighbors. Only for lines that have some the browser orders texts by direction, which costs time while scrolling. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
type EventLineProps = { event: Event; rowStyle: RowStyle; actions: ValueActions }

/** The line of an event. Its pairs and ids have a menu of actions. */
function EventLine({ event, rowStyle, actions }: EventLineProps) {
  const { message_kvs: fields, metadata } = event
  const raw = event['@raw'] ?? ''
  const summary = summaryOf(raw, fields)
  const { head, moreLines: linesBelow, isCut } = firstLineOf(summary?.message ?? raw)
  const moreLines = linesBelow + traceLines(fields)
  const text = rowStyle.isWrapped ? head : head.slice(0, ONE_LINE_MAX)
  const value = { actions, atMs: metadata.timestamp }
  const pairs = summary?.pairs.filter(([name]) => !rowStyle.columns.includes(name)) ?? []
  const isMixed = RIGHT_TO_LEFT.test(text) || pairs.some(([name, one]) => RIGHT_TO_LEFT.test(name + one.slice(0, PAIR_MAX)))
  return (
    <span
      // A line of Arabic or Hebrew begins at the right, so that a narrow row cuts its end, and its fields follow at the left.
      dir={isMixed ? 'auto' : undefined}
      className={`${rowStyle.columns.length > 0 ? MESSAGE_CLASS : 'min-w-0 flex-1'} ${rowStyle.isWrapped ? 'wrap-anywhere' : 'truncate'}`}
    >
      {segmentsOf(text, fields).map(({ text: part, nameLength = 0, pair }, at) =>
        pair ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments of a line never change order
          <ValueInText key={at} {...pair} {...value}>
            <span className="text-soft">
              <HighlightedText text={part.slice(0, nameLength)} highlights={rowStyle.highlights} onlyMatches />
            </span>
            <span className="text-info">
              <HighlightedText text={part.slice(nameLength)} highlights={rowStyle.highlights} onlyMatches />
            </span>
          </ValueInText>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <TextWithIds key={at} text={part} highlights={rowStyle.highlights} fields={fields} {...value} />
        ),
      )}
      {isCut && <span className="text-soft"> …</span>}
      {moreLines > 0 && (
        <span className="ml-1 rounded bg-tint px-1 text-soft" title={`${moreLines} more ${moreLines === 1 ? 'line' : 'lines'}`}>
          +{moreLines}
        </span>
      )}
      {pairs.map(([name, text]) => (
        <span key={name} className={`ms-3 text-soft ${isMixed ? '[unicode-bidi:isolate]' : ''}`}>
          <ValueInText name={name} value={text} {...value}>
            {name}=
            <span className="text-info">
              <HighlightedText text={plainLine(text).slice(0, PAIR_MAX)} highlights={rowStyle.highlights} onlyMatches />
            </span>
          </ValueInText>
        </span>
      ))}
    </span>
  )
}

type TextWithIdsProps = {
  text: string
  highlights: Highlights
  fields: Readonly<Record<string, string>>
  actions: ValueActions
  atMs: number
}

/** Gives ids in free text a menu: for the field with that value if there is one, else for the text. */
function TextWithIds({ text, highlights, fields, actions, atMs }: TextWithIdsProps) {
  return piecesOf(text, highlights).map((piece, at) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line never change order
    if (piece.kind !== 'id') return <PieceText key={at} piece={piece} />
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line never change order
      <ValueInText key={at} name={fieldWithValue(piece.text, fields)} value={piece.text} actions={actions} atMs={atMs}>
        <PieceText piece={piece} />
      </ValueInText>
    )
  })
}
