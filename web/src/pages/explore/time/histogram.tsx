import { ChevronDown, ChevronRight, RotateCcw, ZoomOut } from 'lucide-react'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { change, compact, count, quantity, span } from '../../../parts/chart/numbers.ts'
import { sharedTime } from '../../../parts/chart/shared-time.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { SelectionTools } from '../changes/selection-tools.tsx'
import { isValue, splitClauses } from '../query/clauses.ts'
import { BarChart, barRangeOf, HEIGHT } from './bar-chart.tsx'
import { type Bar, type Bars, barIndexAt, barSum, EXPLORE_TIME, endOf, selectedSum, sumOfBars } from './bars.ts'
import { comparableTotals } from './compare.ts'
import type { TimeSpan } from './time-span.ts'

type HistogramProps = {
  bars: Bars | undefined
  /** The bars of the compared period and its label. */
  earlier?: { bars: Bars; name: string } | undefined
  isStale: boolean
  failure: unknown
  /** Replaces the summary while there is no result: the query is wrong, or was cancelled. */
  note: string | undefined
  zone: Zone
  selection: TimeSpan | undefined
  /** True when the range is not the default. */
  canReset: boolean
  /** overlay is rendered over the bars, tools below them. */
  overlay?: ReactNode
  tools?: ReactNode
  onSelect(timeSpan: TimeSpan | undefined): void
  onRange(timeSpan: TimeSpan): void
  onReset(): void
  onChanges(): void
  onRetry(): unknown
  /** The query; onStatus adds or removes the filter of a status. */
  where: string
  onStatus(status: EventStatus): void
}

export type EventStatus = 'error' | 'warn' | 'info'
const statuses: readonly EventStatus[] = ['error', 'warn', 'info']
const swatches = { info: 'bg-bar-info', warn: 'bg-bar-warn', error: 'bg-bar-error' }
/** The filter of a status. */
export const statusClause = (status: EventStatus): string => isValue('@status', status)
const KEY = 'dendro.histogram'

/** Shows the matching events over time by status. A click selects a bar, a drag several. Arrow keys, with Shift for several, and Enter do the same. */
export function Histogram(props: HistogramProps) {
  const { bars: data, failure, zone, onRetry, overlay, tools } = props
  const [isCollapsed, setCollapsed] = useState(() => localStorage.getItem(KEY) === 'closed')
  const time = sharedTime(EXPLORE_TIME)
  const [self] = useState(() => ({}))
  const barIndex = useSyncExternalStore(time.follow, () => {
    const atMs = time.now()?.atMs
    return data && atMs !== undefined ? barIndexAt(data, atMs) : undefined
  })
  const isReadElsewhere = useSyncExternalStore(time.follow, () => time.now() !== undefined && time.now()?.by !== self)
  useEffect(() => () => time.release(self), [time, self])
  const toggleCollapsed = () => {
    localStorage.setItem(KEY, isCollapsed ? 'open' : 'closed')
    setCollapsed(!isCollapsed)
  }
  const bars = data?.bars ?? []
  const pointedBar = barIndex === undefined ? undefined : bars[barIndex]
  return (
    <section aria-label="Events over time" className="border-line border-b px-3 py-1 max-sm:px-2 max-sm:py-0">
      {failure && !data ? (
        <div className="-mx-2 mt-1 overflow-y-auto" style={isCollapsed ? undefined : { height: HEIGHT }}>
          <FailureNote thrown={failure} again={onRetry} what="Counts over time" isSmall />
        </div>
      ) : null}
      {!isCollapsed && !(failure && !data) && (
        <div className="relative mt-1 max-sm:mt-0">
          <BarChart {...props} barIndex={barIndex} time={time} self={self} />
          {overlay}
          <SelectionOverlay {...props} />
        </div>
      )}
      <div className="relative flex min-h-7 flex-wrap items-center gap-x-3 whitespace-nowrap text-soft text-xs tabular-nums max-sm:min-h-6.5 max-sm:gap-x-0.5">
        <Button size="small" variant="quiet" aria-expanded={!isCollapsed} className="-ml-2" onClick={toggleCollapsed}>
          <Icon of={isCollapsed ? ChevronRight : ChevronDown} size="small" />
          <span className="sr-only">Histogram</span>
        </Button>
        <StatusLegend bars={data} selection={props.selection} isStale={props.isStale} query={props.where} onFilter={props.onStatus} />
        <span
          // On a phone, which has no pointer to hover, there is place for what went wrong only.
          className={`min-w-0 truncate sm:flex-1 ${props.note ? 'max-sm:order-1 max-sm:basis-full' : 'max-sm:sr-only'}`}
          // Of the charts that read one moment, the one that reads speaks.
          aria-live={isReadElsewhere ? 'off' : 'polite'}
        >
          {props.note ??
            (pointedBar
              ? barText(pointedBar, zone, barIndex, props.earlier)
              : data
                ? props.selection
                  ? selectionText(data, props.selection, zone)
                  : summaryText(data, props.earlier)
                : failure
                  ? ''
                  : 'Counting…')}
        </span>
        {tools}
        <ZoomButtons {...props} />
      </div>
    </section>
  )
}

/** summaryText is shown while no bar is hovered: the length of a bar, and the change against the compared period. */
function summaryText(data: Bars, earlier: HistogramProps['earlier']): string {
  const step = `${span(data.stepMs)} per bar`
  if (!earlier) return step
  const { now, before } = comparableTotals(data, earlier.bars)
  return `${step} · ${change(now, before)} vs. ${earlier.name}`
}

/** selectionText is shown for selected bars: their time and their number of events. */
function selectionText(data: Bars, selection: TimeSpan, zone: Zone): string {
  const [from, to] = [clockOf(selection.fromMs, zone), clockOf(selection.toMs, zone)]
  const sum = selectedSum(data, selection)
  return [`${from.clock.slice(0, 8)} – ${to.clock.slice(0, 8)} selected`, ...(sum ? [quantity(barSum(sum), 'event')] : [])].join(' · ')
}

type StatusLegendProps = {
  bars: Bars | undefined
  selection: TimeSpan | undefined
  isStale: boolean
  query: string
  onFilter(status: EventStatus): void
}

/** Names the colors with the counts of all bars, or of the selected ones, in places that stay. A click filters by a status, another removes the filter. */
function StatusLegend({ bars: data, selection, isStale, query, onFilter }: StatusLegendProps) {
  const clauses = splitClauses(query)
  const all = data && sumOfBars(data.bars)
  const shown = selection ? data && selectedSum(data, selection) : all
  return (
    <span role="toolbar" aria-label="Statuses" className="flex gap-1 max-sm:gap-0" aria-busy={isStale}>
      {statuses.map((status) => {
        const isChosen = clauses.includes(statusClause(status))
        return (
          <Button
            key={status}
            size="small"
            variant={isChosen ? 'chosen' : 'quiet'}
            aria-pressed={isChosen}
            className="min-w-30 max-sm:min-w-15 max-sm:gap-1 max-sm:px-1"
            disabled={(all?.[status] ?? 0) === 0 && !isChosen}
            title={isChosen ? `Show all statuses` : `Show only ${status}`}
            onClick={() => onFilter(status)}
          >
            <span aria-hidden className={`size-2.5 rounded-sm ${swatches[status]}`} />
            {/* On a phone the letter of the rows takes the place of the word. */}
            <span aria-hidden className="sm:hidden">
              {status[0]?.toUpperCase()}
            </span>
            <span className="max-sm:sr-only">{status}</span> {shown && compact(shown[status])}
          </Button>
        )
      })}
    </span>
  )
}

/** Places the tools of the selection next to it, where they cover no selected bar. */
function SelectionOverlay({ bars: data, selection, onSelect, onRange, onChanges }: HistogramProps) {
  const range = data && selection && barRangeOf(selection, data)
  if (!range) return null
  const [from, to] = [range.from, range.from + range.count].map((at) => Math.min(100, Math.max(0, (100 * at) / data.bars.length)))
  const isRight = (to ?? 0) <= 60
  return (
    <div
      className="pointer-events-none absolute inset-x-0 top-1 z-30 flex"
      style={isRight ? { paddingLeft: `${to}%` } : { paddingRight: `${100 - (from ?? 0)}%` }}
    >
      <SelectionTools
        className={`pointer-events-auto mx-1 ${isRight ? '' : 'ml-auto'}`}
        onZoom={() => onRange(selection)}
        onChanges={onChanges}
        onClear={() => onSelect(undefined)}
      />
    </div>
  )
}

/** ZoomButtons zoom out to twice the range, and reset the range. */
function ZoomButtons({ bars: data, canReset, onRange, onReset }: HistogramProps) {
  const first = data?.bars[0]
  const zoomOut = () => {
    if (!data || !first) return
    const half = (endOf(data) - first.fromMs) / 2
    onRange({ fromMs: Math.max(0, first.fromMs - half), toMs: endOf(data) + half })
  }
  return (
    <span className="ml-auto flex gap-x-1 max-sm:gap-x-0">
      <Button size="small" variant="quiet" disabled={!data} onClick={zoomOut}>
        <Icon of={ZoomOut} size="small" className="sm:hidden" />
        <span className="max-sm:sr-only">Zoom out</span>
      </Button>
      {canReset && (
        <Button size="small" variant="quiet" onClick={onReset}>
          <Icon of={RotateCcw} size="small" className="sm:hidden" />
          <span className="max-sm:sr-only">Reset</span>
        </Button>
      )}
    </span>
  )
}

function barText(bar: Bar, zone: Zone, barIndex: number | undefined, earlier: HistogramProps['earlier']): string {
  const earlierBar = barIndex === undefined ? undefined : earlier?.bars.bars[barIndex]
  return [
    `${clockOf(bar.fromMs, zone).clock.slice(0, 8)} · ${quantity(barSum(bar), 'event')}`,
    ...(bar.error ? [quantity(bar.error, 'error')] : []),
    ...(bar.warn ? [quantity(bar.warn, 'warning')] : []),
    ...(earlierBar && earlier ? [`${count(barSum(earlierBar))} ${earlier.name}`] : []),
  ].join(' · ')
}
