import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { ago, bytes, change, count, quantity, share } from '../../../parts/chart/numbers.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { plainLine } from '../events/find/line-text.ts'
import type { ExploreQuery } from '../query/explore-query.ts'
import { DropSimilar } from './drop-similar.tsx'
import { PatternValues } from './pattern-values.tsx'
import { type Pattern, type PatternOrder, type PatternTrend, patternOrders, sortPatterns, withGone } from './patterns.ts'

type PatternListProps = {
  patterns: readonly Pattern[] | undefined
  /** True when there may be more patterns. */
  isCut: boolean
  trends: ReadonlyMap<string, PatternTrend> | undefined
  /** The patterns of the compared period and its label. */
  earlier: { patterns: ReadonlyMap<string, Pattern>; name: string } | undefined
  /** Replaces the list when there are no patterns. */
  emptyView: ReactNode
  /** query is that of the patterns, for the values of an open one. */
  query: ExploreQuery
  isStale: boolean
  failure: unknown
  zone: Zone
  datasetName(id: string): string
  onInclude(id: string): void
  onExclude(id: string): void
  /** Adds a condition to the query. */
  onNarrow(where: string): void
  onRetry(): unknown
}

const orderNames = Object.entries(patternOrders) as [PatternOrder, string][]

const ROWS = [80, 60, 70, 50, 65, 40]

/** Shows the patterns of the matching events with exact counts, trends and the change against the compared period. */
export function PatternList(props: PatternListProps) {
  const { patterns, isCut, trends, earlier, emptyView, isStale, failure, onRetry } = props
  const [order, setOrder] = useState<PatternOrder>('frequent')
  if (failure && !patterns) return <FailureNote thrown={failure} again={onRetry} what="Patterns" />
  if (!patterns) return <Skeleton widths={ROWS} className="px-3" lineClass="my-2 h-4" />
  const shown = withGone(patterns, earlier?.patterns)
  if (shown.length === 0) return emptyView
  const all = patterns.reduce((sum, one) => sum + one.count, 0)
  const rows = sortPatterns(
    shown.map((one) => ({ ...one, trend: trends?.get(one.id) })),
    order === 'changed' && !earlier ? 'frequent' : order,
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="Patterns" tabIndex={0} className="h-full overflow-auto" aria-busy={isStale}>
      <div className="flex flex-wrap items-center gap-1 px-2 py-1 text-xs">
        <span className="text-soft">
          {isCut && 'most frequent '}
          {quantity(patterns.length, 'pattern')}, sorted by
        </span>
        {orderNames.map(([name, label]) => (
          <Button
            key={name}
            size="small"
            variant={name === order ? 'chosen' : 'quiet'}
            aria-pressed={name === order}
            disabled={name === 'changed' && !earlier}
            title={name === 'changed' && !earlier ? 'Select a period under the histogram to compare with' : undefined}
            onClick={() => setOrder(name)}
          >
            {label}
          </Button>
        ))}
      </div>
      <table aria-label="Patterns" className="w-full text-xs max-sm:block">
        <thead className="sticky top-0 z-10 bg-panel text-left text-soft max-sm:sr-only">
          <tr>
            <th className="px-3 py-1 text-right font-medium">Events</th>
            <th className="px-2 py-1 text-right font-medium">Share</th>
            {earlier && (
              <th className="whitespace-nowrap px-2 py-1 text-right font-medium" title={`Compared with ${earlier.name}`}>
                Change
              </th>
            )}
            <th className="w-32 px-2 py-1 font-medium max-md:hidden">Over time</th>
            <th className="px-2 py-1 font-medium">Pattern</th>
            <th className="px-2 py-1 font-medium max-lg:hidden">First – last</th>
            <th className="px-2 py-1 text-right font-medium max-lg:hidden" title="Approximate size of the lines">
              Size
            </th>
            <th className="px-2 py-1 font-medium max-md:hidden">Dataset</th>
            <th className="px-2 py-1">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {rows.map((one) => (
            <Row key={one.id} {...props} one={one} all={all} before={earlier?.patterns.get(one.id)?.count ?? 0} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

type RowProps = Pick<PatternListProps, 'earlier' | 'query' | 'zone' | 'datasetName' | 'onInclude' | 'onExclude' | 'onNarrow'> & {
  one: Pattern
  all: number
  before: number
}

const COLUMNS_MAX = 9

function Row({ one, all, before, earlier, query, zone, datasetName, onInclude, onExclude, onNarrow }: RowProps) {
  const [isOpen, setOpen] = useState(false)
  const nowMs = Date.now()
  const valuesId = useId()
  return (
    <>
      {/* On a phone the numbers and the pattern stand in one line, and the actions below it. */}
      <tr className="border-line border-t align-top hover:bg-tint max-sm:flex max-sm:flex-wrap">
        <td className="px-3 py-1 max-sm:w-16 text-right tabular-nums">{count(one.count)}</td>
        <td className="whitespace-nowrap px-2 py-1 text-right text-soft tabular-nums max-sm:w-14">{share(one.count, all)}</td>
        {earlier && (
          <td className="whitespace-nowrap px-2 py-1 text-right tabular-nums" title={`${quantity(before, 'event')} ${earlier.name}`}>
            <ChangeText now={one.count} before={before} />
          </td>
        )}
        <td className="px-2 py-1 max-md:hidden">{one.trend && <Sparkline trend={one.trend} />}</td>
        <td className="wrap-anywhere px-2 py-1 font-mono max-sm:min-w-0 max-sm:flex-1">
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? valuesId : undefined}
            title="Kinds and values of the variable parts"
            className="flex gap-1 text-left"
            onClick={() => setOpen(!isOpen)}
          >
            <span aria-hidden className="text-soft">
              <Icon of={ChevronRight} size="small" className={`transition-transform ${isOpen ? 'rotate-90' : ''}`} />
            </span>
            <span className={isOpen ? '' : 'line-clamp-4'}>
              <Template text={one.template} />
            </span>
          </button>
        </td>
        <td className="whitespace-nowrap px-2 py-1 text-soft tabular-nums max-lg:hidden">
          {one.trend && (
            <span title={`${timeText(one.trend.firstMs, zone)} – ${timeText(one.trend.lastMs, zone)}`}>
              {ago(one.trend.firstMs, nowMs)} – {ago(one.trend.lastMs, nowMs)}
            </span>
          )}
        </td>
        <td className="whitespace-nowrap px-2 py-1 text-right text-soft tabular-nums max-lg:hidden">{bytes(one.bytes)}</td>
        <td className="px-2 py-1 text-soft max-md:hidden">{one.datasets.map(datasetName).join(', ')}</td>
        <td className="px-2 py-0.5 max-sm:basis-full">
          <span className="flex max-sm:justify-end">
            <Button size="small" variant="quiet" onClick={() => onInclude(one.id)}>
              Include
            </Button>
            <Button size="small" variant="quiet" onClick={() => onExclude(one.id)}>
              Exclude
            </Button>
            <DropSimilar id={one.id} template={one.template} datasets={one.datasets} />
          </span>
        </td>
      </tr>
      {isOpen && (
        <tr className="max-sm:block">
          <td id={valuesId} colSpan={COLUMNS_MAX} className="max-sm:block border-line border-l-3 px-3 py-2">
            <PatternValues id={one.id} query={query} onNarrow={onNarrow} />
          </td>
        </tr>
      )}
    </>
  )
}

/** A change; new and gone patterns stand out. */
export function ChangeText({ now, before }: { now: number; before: number }) {
  const text = change(now, before)
  const isNewOrGone = text === 'new' || text === 'gone'
  return <span className={isNewOrGone ? 'rounded bg-tint px-1 font-medium text-ink' : 'text-soft'}>{text}</span>
}

const timeText = (ms: number, zone: Zone): string => `${clockOf(ms, zone).day} ${clockOf(ms, zone).clock}`

const SPARKLINE_HEIGHT = 18

/** Shows the events of a pattern over time, and below it their statuses. */
function Sparkline({ trend }: { trend: PatternTrend }) {
  const maxCount = Math.max(1, ...trend.slices)
  const statuses = (['error', 'warn', 'info'] as const).filter((kind) => trend[kind] > 0)
  const text = statuses.map((kind) => `${count(trend[kind])} ${kind}`).join(', ')
  return (
    <span className="flex flex-col gap-0.5" title={text}>
      <svg
        role="img"
        aria-label={`maximum per step: ${count(maxCount)}`}
        viewBox={`0 0 ${trend.slices.length} ${SPARKLINE_HEIGHT}`}
        preserveAspectRatio="none"
        className="h-4.5 w-28"
      >
        {trend.slices.map((value, at) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its position
            key={at}
            className="fill-bar-info"
            x={at + 0.1}
            width={0.8}
            y={SPARKLINE_HEIGHT - (value / maxCount) * SPARKLINE_HEIGHT}
            height={(value / maxCount) * SPARKLINE_HEIGHT}
          />
        ))}
      </svg>
      <span className="flex h-1 w-28 overflow-hidden rounded-sm" role="img" aria-label={text}>
        {statuses.map((kind) => (
          <span key={kind} className={statusColors[kind]} style={{ flexGrow: trend[kind] }} />
        ))}
      </span>
      <span className="sr-only">{text}</span>
    </span>
  )
}

const statusColors = { error: 'bg-bar-error', warn: 'bg-bar-warn', info: 'bg-bar-info' }
const VARIABLE = '<*>'

/** The text of a pattern with its variable parts highlighted. */
export function Template({ text }: { text: string }) {
  return plainLine(text)
    .slice(0, 1_000)
    .split(VARIABLE)
    .map((part, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a template never change order
      <span key={at}>
        {at > 0 && <span className="rounded bg-tint px-0.5 text-accent">{VARIABLE}</span>}
        {part}
      </span>
    ))
}
