import { ArrowLeftRight } from 'lucide-react'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { change as changeText, count, quantity, share } from '../../../parts/chart/numbers.ts'
import { type SharedTime, sharedTime } from '../../../parts/chart/shared-time.ts'
import type { Field } from '../../../parts/query/fields.ts'
import { QueryInput } from '../../../parts/query/query-input.tsx'
import { readWhere } from '../../../parts/query/query-readers.ts'
import { useShown } from '../../../parts/records/long-list.tsx'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { TimePicker } from '../../../parts/time/time-picker.tsx'
import { clockOf, nameOf, type Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { plainLine } from '../events/find/line-text.ts'
import { type ChangeParams, type ExploreParams, optional, withQuery, withRange } from '../explore-params.ts'
import { usePatterns } from '../patterns/patterns.ts'
import { isValue, withClause } from '../query/clauses.ts'
import type { ExploreQuery } from '../query/explore-query.ts'
import { type Bars, barSum, EXPLORE_TIME, useBars } from '../time/bars.ts'
import { type SharedAxis, SideChart } from './side-chart.tsx'
import {
  type Brush,
  barAt,
  brushedTimes,
  otherSide,
  type PatternPair,
  pairPatterns,
  partPlaces,
  placeOf,
  sharedTop,
  sideRange,
  timeAt,
} from './sides.ts'

type SidesViewProps = {
  params: ExploreParams
  query: ExploreQuery
  fields: readonly Field[]
  zone: Zone
  setZone(zone: Zone): void
  change: ChangeParams
}

/** Compares the query with another query or another time: two charts with one scale and one pointer, and the patterns of both. */
export function SidesView({ params, query, fields, zone, setZone, change }: SidesViewProps) {
  const { bq, br, bf, bt } = params
  // The time before a relative range stays while the page shows it.
  const other = useMemo(() => otherSide({ ...optional({ bq, br, bf, bt }) }, query, Date.now()), [bq, br, bf, bt, query])
  const sides = [useSide(query), useSide(other)] as const
  const [a, b] = sides
  const axis = useSidesAxis(sharedTime(EXPLORE_TIME), a.bars.data ?? b.bars.data)
  const top = sharedTop(a.bars.data?.bars ?? [], b.bars.data?.bars ?? [])
  const set = (next: Partial<ExploreParams>) => change((now) => optional({ ...now, ...next }))
  const zoom = (part: Brush) => {
    const [one, two] = [a, b].map(({ bars }) => bars.data && brushedTimes(part, bars.data))
    if (!one || !two) return
    // Side B at the same time as side A follows it by itself.
    const isSameTime = bq !== undefined && br === undefined && bf === undefined
    change(({ br: _r, ...now }) => ({ ...withRange(now, one), ...(isSameTime ? {} : sideRange(two)) }))
  }
  const panel = { top, zone, axis: { ...axis, onZoom: zoom } }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
    <section aria-label="Side by side" tabIndex={0} className="h-full overflow-auto p-3 text-xs">
      <div className="grid grid-cols-2 gap-3 max-md:grid-cols-1">
        <section aria-label="Side A" className={PANEL}>
          <div className="flex min-h-8 items-center gap-2 max-sm:flex-wrap">
            <SideName name="A" />
            <code className="min-w-0 flex-1 truncate font-mono">{query.where || 'all events'}</code>
            <span className="shrink-0 text-soft">{nameOf(query.range, zone)}</span>
          </div>
          <SideResult name="A" side={a} {...panel} />
        </section>
        <section aria-label="Side B" className={PANEL}>
          <div className="flex min-h-8 flex-wrap items-start gap-2">
            <SideName name="B" />
            <div className="flex min-w-40 flex-1 basis-40 max-sm:basis-[80%]">
              <OtherQuery key={other.where} text={other.where} fields={fields} onRun={(next) => set({ bq: next })} />
            </div>
            <span className="flex max-w-full gap-2">
              <TimePicker
                range={other.range}
                zone={zone}
                onPick={(range) => set({ br: undefined, bf: undefined, bt: undefined, ...sideRange(range) })}
                onZone={setZone}
              />
              <Button
                title="Exchange both sides"
                aria-label="Exchange both sides"
                onClick={() => change((now) => exchanged(now, query, other))}
              >
                <Icon of={ArrowLeftRight} />
              </Button>
            </span>
          </div>
          <SideResult name="B" side={b} {...panel} />
        </section>
      </div>
      <PatternPairs sides={sides} onOpen={(id) => change((now) => optional({ ...withPattern(now, id), tab: undefined }))} />
    </section>
  )
}

/** The axis of both sides, as places from 0 to 1, on the time axis of the page, which is the time of side A. */
function useSidesAxis(time: SharedTime, bars: Bars | undefined): Omit<SharedAxis, 'onZoom'> {
  const [self] = useState(() => ({}))
  const [own, setOwn] = useState<Brush>()
  const reading = useSyncExternalStore(time.follow, time.now)
  useEffect(() => () => time.release(self), [time, self])
  const isOwn = reading?.by === self
  const pointed = bars && reading?.atMs !== undefined ? placeOf(reading.atMs, bars) : undefined
  const part = isOwn ? undefined : reading?.part
  const brush = own ?? (bars && part && partPlaces(part, bars))
  const read = (place: number | undefined, next: Brush | undefined) => {
    setOwn(next)
    if (place === undefined || !bars) time.release(self)
    else time.read(self, timeAt(place, bars), next && brushedTimes(next, bars))
  }
  return {
    pointed,
    isOwn,
    brush,
    onPoint: (place) => read(place, place === undefined ? undefined : own),
    onBrush: (next, place) => read(place ?? pointed, next),
  }
}

/** A side is as high as the other, part by part, so that both charts stand at one height. */
const PANEL = 'row-span-2 grid min-w-0 grid-cols-1 grid-rows-subgrid gap-2 rounded-md border border-line bg-panel p-2'

const SideName = ({ name }: { name: string }) => (
  <span aria-hidden className="my-1 flex size-6 shrink-0 items-center justify-center rounded-full bg-tint font-medium">
    {name}
  </span>
)

const withPattern = (now: ExploreParams, id: string): ExploreParams => withQuery(now, withClause(now.q ?? '', isValue('@pattern', id)))

const exchanged = (now: ExploreParams, query: ExploreQuery, other: ExploreQuery): ExploreParams => {
  const { br: _r, bf: _f, bt: _t, ...rest } = now
  return { ...withQuery(withRange(rest, other.range), other.where), bq: query.where, ...sideRange(query.range) }
}

function useSide(query: ExploreQuery) {
  return { bars: useBars(query, true, false), patterns: usePatterns(query, true) }
}

type Side = ReturnType<typeof useSide>

type OtherQueryProps = { text: string; fields: readonly Field[]; onRun(text: string): void }

function OtherQuery({ text, fields, onRun }: OtherQueryProps) {
  const [draft, setDraft] = useState(text)
  return (
    <QueryInput
      label="Query of side B"
      placeholder="Another query, then Enter"
      text={draft}
      known={{ read: readWhere, fields }}
      onText={setDraft}
      onRun={(next) => onRun(next.trim())}
    />
  )
}

type SideResultProps = {
  name: string
  side: Side
  top: number
  zone: Zone
  axis: SharedAxis
}

function SideResult({ name, side: { bars }, zone, axis, top }: SideResultProps) {
  if (bars.error) return <FailureNote thrown={bars.error} again={() => bars.refetch()} isSmall />
  if (!bars.data) return <Skeleton className="h-32" />
  const all = bars.data.bars
  const { pointed, brush, isOwn } = axis
  const bar = pointed === undefined ? undefined : all[barAt(pointed, all)]
  const part = brush && brushedTimes(brush, bars.data)
  const sum = (status: 'error' | 'warn') => all.reduce((total, one) => total + one[status], 0)
  return (
    <div aria-busy={bars.isPlaceholderData}>
      <p className="text-soft tabular-nums" aria-live={isOwn || pointed === undefined ? 'polite' : 'off'}>
        {part
          ? `${clockOf(part.fromMs, zone).day} ${clockOf(part.fromMs, zone).clock.slice(0, 8)} – ${clockOf(part.toMs, zone).clock.slice(0, 8)}`
          : bar
            ? `${clockOf(bar.fromMs, zone).day} ${clockOf(bar.fromMs, zone).clock.slice(0, 8)} · ${quantity(barSum(bar), 'event')}`
            : [
                `${bars.data.isExact ? '' : 'at least '}${quantity(bars.data.total, 'event')}`,
                quantity(sum('error'), 'error'),
                quantity(sum('warn'), 'warning'),
              ].join(' · ')}
      </p>
      <SideChart name={name} bars={bars.data} zone={zone} axis={axis} top={top} />
    </div>
  )
}

const PAIRS_SHOWN = 100

/** The patterns of both sides with their counts, the largest difference first. */
function PatternPairs({ sides: [a, b], onOpen }: { sides: readonly [Side, Side]; onOpen(id: string): void }) {
  const [patternsA, patternsB] = [a.patterns.data, b.patterns.data]
  const pairs = useMemo(() => (patternsA && patternsB ? pairPatterns(patternsA.patterns, patternsB.patterns) : []), [patternsA, patternsB])
  const { shown, more } = useShown(pairs, PAIRS_SHOWN)
  const failed = [a, b].find(({ patterns }) => patterns.error)
  if (failed) return <FailureNote thrown={failed.patterns.error} again={() => failed.patterns.refetch()} />
  if (!patternsA || !patternsB) return <Skeleton className="mt-3" />
  if (pairs.length === 0)
    return <p className="p-6 text-center text-soft">Neither side has events. Choose a longer time, or change a query.</p>
  return (
    <>
      <table className="mt-3 w-full">
        <caption className="pb-1 text-left text-soft">Patterns, the largest difference first</caption>
        <thead className="text-left text-soft">
          <tr>
            <th className="px-2 py-1 text-right font-medium">A</th>
            <th className="px-2 py-1 text-right font-medium">B</th>
            <th className="whitespace-nowrap px-2 py-1 text-right font-medium">A vs. B</th>
            <th className="w-full px-2 py-1 font-medium">Pattern</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((pair) => (
            <PairRow key={pair.id} pair={pair} all={{ a: patternsA.cost.events, b: patternsB.cost.events }} onOpen={onOpen} />
          ))}
        </tbody>
      </table>
      {more}
    </>
  )
}

type PairRowProps = { pair: PatternPair; all: { a: number; b: number }; onOpen(id: string): void }

const PairRow = ({ pair, all, onOpen }: PairRowProps) => (
  <tr className="border-line border-t align-top tabular-nums hover:bg-tint">
    <td className="whitespace-nowrap px-2 py-1 text-right">
      {count(pair.a)} <span className="text-soft max-sm:hidden">· {share(pair.a, all.a)}</span>
    </td>
    <td className="whitespace-nowrap px-2 py-1 text-right">
      {count(pair.b)} <span className="text-soft max-sm:hidden">· {share(pair.b, all.b)}</span>
    </td>
    <td className="whitespace-nowrap px-2 py-1 text-right">{changeText(pair.a, pair.b)}</td>
    <td className="px-2 py-1">
      <button
        type="button"
        className="wrap-anywhere text-left font-mono hover:underline"
        title="Show the events of side A"
        onClick={() => onOpen(pair.id)}
      >
        {plainLine(pair.template)}
      </button>
    </td>
  </tr>
)
