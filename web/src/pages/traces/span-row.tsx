import type { Trace } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { ChevronDown, ChevronRight, TriangleAlert } from 'lucide-react'
import { Icon } from '../../ui/icon.tsx'
import { barIn, placeIn, type ShownPart } from './shown-part.ts'

/** SpanMarks is what is drawn on the axis beside the duration of a span. */
export type SpanMarks = { logs: Trace['logs'][number][]; critical: { start_nano: number; duration_nano: number }[] }

type SpanRowProps = {
  span: Trace['spans'][number]
  bar: SpanMarks
  part: ShownPart
  top: number
  color: string
  isCurrent: boolean
  isFaint: boolean
  isCollapsed: boolean
  onSelect(): void
  onToggle(): void
}

const INDENT_REM = 0.75
const DEEPEST = 20

/** One span: its name by depth, and its time on the axis with the critical path below and its log events as dots. */
export function SpanRow({ span, bar, part, top, color, isCurrent, isFaint, isCollapsed, onSelect, onToggle }: SpanRowProps) {
  const own = barIn(part, span.start_nano, span.duration_nano)
  const marks = [
    span.parent === 'missing' ? 'parent missing' : span.parent === 'cyclic' ? 'parents in a circle' : '',
    span.skew_nano === undefined ? '' : `clock corrected by ${durationText(span.skew_nano)}`,
  ].filter((text) => text !== '')
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it takes the keys
    <div
      role="treeitem"
      tabIndex={-1}
      aria-level={span.depth + 1}
      aria-selected={isCurrent}
      {...(span.descendants > 0 ? { 'aria-expanded': !isCollapsed } : {})}
      onClick={onSelect}
      className={`absolute inset-x-0 flex h-6 cursor-default items-center text-xs ${isCurrent ? 'bg-tint' : 'hover:bg-sunk'} ${isFaint ? 'opacity-40' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span
        className="flex w-[40%] shrink-0 items-center gap-1 truncate pr-2"
        style={{ paddingLeft: `${0.5 + Math.min(DEEPEST, span.depth) * INDENT_REM}rem` }}
      >
        <span
          aria-hidden
          className={`w-4 shrink-0 ${span.descendants > 0 ? '' : 'invisible'}`}
          onClick={(event) => {
            event.stopPropagation()
            onToggle()
          }}
        >
          <Icon of={isCollapsed ? ChevronRight : ChevronDown} />
        </span>
        {/* The service gives way first: its color names it too. */}
        <span className={`flex min-w-0 gap-1 ${span.status === 'error' ? 'text-error' : ''}`} title={`${span.service} ${span.name}`}>
          <span className="min-w-8 truncate text-soft">{span.service}</span>{' '}
          <span className="max-w-[calc(100%-2.25rem)] shrink-0 truncate">{span.name}</span>
          {span.status === 'error' && <span className="sr-only"> failed</span>}
        </span>
        {marks.length > 0 && (
          <span className="shrink-0 text-warn" title={marks.join('; ')}>
            <Icon of={TriangleAlert} />
          </span>
        )}
      </span>
      <span aria-hidden className="relative h-full min-w-0 flex-1">
        {own && <span className="absolute top-1.5 h-2.5 min-w-px rounded-sm" style={{ ...percents(own), background: color }} />}
        {bar.critical.map(({ start_nano, duration_nano }) => {
          const stretch = barIn(part, start_nano, duration_nano)
          return stretch && <span key={start_nano} className="absolute bottom-0.5 h-0.5 bg-ink" style={percents(stretch)} />
        })}
        {bar.logs.map(({ start_nano, event }) => (
          <span
            key={String(event.metadata.sequence)}
            className={`absolute top-0 size-1.5 rounded-full ${event['@status'] === 'error' ? 'bg-error' : event['@status'] === 'warn' ? 'bg-warn' : 'bg-soft'}`}
            style={{ left: `${placeIn(part, Math.min(part.to, Math.max(part.from, start_nano)))}%` }}
          />
        ))}
      </span>
      <span className="w-16 shrink-0 pr-2 text-right text-soft tabular-nums">{` ${durationText(span.duration_nano)}`}</span>
    </div>
  )
}

const percents = ({ left, width }: { left: number; width: number }) => ({ left: `${left}%`, width: `${width}%` })
