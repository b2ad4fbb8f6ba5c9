import { useEffect, useState } from 'react'
import { bytes, count, span } from '../../parts/numbers.ts'
import { Button } from '../../ui/button.tsx'
import { type Asked, type Tab, tabs } from './asked.ts'
import type { Columns } from './columns.ts'
import type { Live } from './live.ts'
import type { useEvents } from './questions.ts'
import type { Density, DetailPlace, Reading } from './reading.ts'
import { RowsMenu } from './rows-menu.tsx'
import type { Change } from './state.ts'

export const tabNames: Record<Tab, string> = { events: 'Events', patterns: 'Patterns', table: 'Table', chart: 'Chart', fields: 'Fields' }

type ViewBarProps = {
  asked: Asked
  change: Change
  columns: Columns
  hasFields: boolean
  setHasFields(has: boolean): void
  tab: Tab
  show(tab: Tab): void
  live: Live
  isLive: boolean
  events: ReturnType<typeof useEvents>
  density: Density
  detail: DetailPlace
  setReading: Reading['set']
  onFind(): void
}

/** ViewBar chooses how the events are shown, and says what the question has cost. */
export function ViewBar(props: ViewBarProps) {
  const { asked, change, columns, hasFields, setHasFields, tab, show, live, isLive, events, density, detail, setReading, onFind } = props
  return (
    <div
      className="flex min-h-9 shrink-0 flex-wrap items-center gap-1 border-line border-b px-2 py-1 text-xs"
      role="toolbar"
      aria-label="View"
    >
      <Button
        size="small"
        look="quiet"
        aria-expanded={hasFields}
        title="The list of fields beside the events"
        onClick={() => setHasFields(!hasFields)}
      >
        <span aria-hidden>{hasFields ? '◧' : '□'}</span>
        <span className="sr-only">Field list</span>
      </Button>
      {tabs.map((one) => (
        <Button key={one} size="small" look={one === tab ? 'chosen' : 'quiet'} aria-pressed={one === tab} onClick={() => show(one)}>
          {tabNames[one]}
        </Button>
      ))}
      {tab === 'events' && (
        <>
          <RowsMenu {...{ asked, change, density, detail, setReading }} />
          <Button size="small" look="quiet" title="Find in the rows that are loaded (Ctrl F in the list)" onClick={onFind}>
            Find
          </Button>
        </>
      )}
      {tab === 'events' && columns.names.length > 0 && (
        <Button size="small" look="quiet" onClick={columns.reset}>
          Whole lines
        </Button>
      )}
      {tab === 'events' && <Cost live={live} isLive={isLive} events={events} />}
    </div>
  )
}

/** Cost is how much was found and what finding it took; an answer that was there already says so. */
function Cost({ live, isLive, events }: Pick<ViewBarProps, 'live' | 'isLive' | 'events'>) {
  const first = events.data?.pages[0]
  const isOld = useWasThere(events)
  const said = isLive
    ? liveWords(live)
    : first && `${first.isExact ? '' : 'at least '}${count(first.total)} events · ${bytes(first.bytes)} read · ${first.ms} ms`
  return (
    <span className="ml-auto truncate text-soft tabular-nums" aria-live="polite">
      {said}
      {!isLive && first && isOld !== undefined && ` · from cache, ${span(isOld)} old`}
    </span>
  )
}

/** liveWords say how much arrives, and how much of it is seen. */
function liveWords({ seen, perSecond, oneOf, missed }: Live): string {
  const about = oneOf === 1 ? '' : 'about '
  const rate = `${about}${count(seen)} ${seen === 1 ? 'event' : 'events'} seen · ${about}${perSecond.toFixed(1)} a second`
  const sampled = oneOf === 1 ? '' : ` · too fast to show all: 1 of ${count(oneOf)}`
  return missed === 0 ? rate + sampled : `${rate}${sampled} · ${count(missed)} missed`
}

/** useWasThere is the age of an answer that this page has not asked for now, but had kept. */
function useWasThere({ data, dataUpdatedAt, isFetching, isPlaceholderData }: ViewBarProps['events']): number | undefined {
  const [asked, setAsked] = useState<{ data: unknown; ageMs: number | undefined }>({ data: undefined, ageMs: undefined })
  useEffect(() => {
    if (data === undefined || isPlaceholderData || isFetching) return
    const ageMs = Date.now() - dataUpdatedAt
    setAsked((before) =>
      before.data === data ? before : { data, ageMs: ageMs < JUST_NOW_MS ? undefined : Math.floor(ageMs / 1_000) * 1_000 },
    )
  }, [data, dataUpdatedAt, isFetching, isPlaceholderData])
  return asked.data === data ? asked.ageMs : undefined
}

/** JUST_NOW_MS is longer than an answer takes from the store of the page to the eye. */
const JUST_NOW_MS = 1_000
