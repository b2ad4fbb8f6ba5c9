import { ArrowUp } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { count } from '../../../parts/chart/numbers.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { boundsOf, clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { ExploreState } from '../explore-state.ts'
import { type ExploreQuery, isQueryError } from '../query/explore-query.ts'
import { OldResult } from '../query/old-result.tsx'
import { eventId } from './detail/event-link.ts'
import { EventPanel } from './detail/event-panel.tsx'
import { FindBar } from './find/find-bar.tsx'
import { EmptyResult, Forbidden, isForbidden } from './list/empty-result.tsx'
import { EventList } from './list/event-list.tsx'
import type { RowStyle } from './list/row-style.ts'

/** The list of found or live events. While the user is scrolled down, new live events wait above. */
export function EventsView({ state }: { state: ExploreState }) {
  const { params, change, selectedQuery, events, live, isLive, loadedEvents, rowStyle, columns, rows, actions, hasReceived, find, pinned } =
    state
  const [scrollToTopCount, setScrollToTopCount] = useState(0)
  const onEnd = useCallback(() => {
    if (!isLive && events.hasNextPage && !events.isFetching && !events.isFetchNextPageError) void events.fetchNextPage()
  }, [isLive, events])
  const { pause, hold } = live
  const isAtTop = useRef(true)
  const { open, current, panelEvent } = rows
  // New rows wait while the user reads: scrolled down, with a row open or under the cursor of the keyboard.
  const isReading = open.size > 0 || current >= 0 || panelEvent !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: another open row is read
  useEffect(() => pause(isReading || !isAtTop.current), [pause, isReading, open, current, panelEvent])
  const onTop = useCallback(
    (isNowAtTop: boolean) => {
      isAtTop.current = isNowAtTop
      if (!isNowAtTop || !isReading) pause(!isNowAtTop)
    },
    [pause, isReading],
  )
  const isEmpty = loadedEvents.length === 0
  const isMore = !isLive && events.hasNextPage
  return (
    <>
      {find.text !== undefined && <FindBar find={find} rows={rows} loadedEvents={loadedEvents} isMore={isMore} />}
      <div className="relative flex min-h-0 flex-1">
        <OldResult of={isLive ? { ...events, oldRange: undefined } : events} noun="rows" zone={rowStyle.zone} className="relative">
          {isLive && live.failure !== undefined && <FailureNote thrown={live.failure} />}
          {!isLive && isForbidden(events.error) && <Forbidden failure={events.error} onRetry={() => events.refetch()} />}
          {!isLive && events.error && !events.oldRange && !isForbidden(events.error) && !isQueryError(events.error) && (
            <FailureNote
              what="Events"
              thrown={events.error}
              again={() => (events.isFetchNextPageError ? events.fetchNextPage() : events.refetch())}
            />
          )}
          {isLive && live.pending > 0 && (
            <NewEventsButton
              pending={live.pending}
              sinceMs={live.paused?.atMs}
              zone={rowStyle.zone}
              onClick={() => {
                hold(false)
                pause(false)
                setScrollToTopCount((before) => before + 1)
              }}
            />
          )}
          {state.isCancelled ? (
            <CancelledQuery onRun={() => events.refetch()} />
          ) : events.error && isEmpty && !isLive ? (
            isQueryError(events.error) && <p className="p-6 text-center text-soft">No result: the query has an error, marked above.</p>
          ) : isEmpty && !isLive && events.isLoading ? (
            <Skeleton widths={ROWS} className="px-3" lineClass="my-1.5 h-3" />
          ) : isEmpty && (isLive || !events.isFetching) ? (
            <EmptyResult
              params={params}
              query={selectedQuery}
              isLive={isLive}
              hasReceived={hasReceived}
              zone={rowStyle.zone}
              onChange={change}
            />
          ) : (
            <EventList
              {...{ rows, rowStyle, columns, actions, onEnd, onTop, scrollToTopCount }}
              isStale={!isLive && events.isPlaceholderData}
              pinnedIds={pinned.ids}
              gapAnchor={params.m}
              newSince={isLive ? live.since : undefined}
              end={
                isLive ? null : (
                  <ListEnd
                    query={selectedQuery}
                    rowStyle={rowStyle}
                    isMore={isMore}
                    isOld={events.oldRange !== undefined}
                    isFetching={events.isFetching}
                    isOldestFirst={params.asc === true}
                  />
                )
              }
            />
          )}
        </OldResult>
        {rows.panelEvent && (
          <EventPanel
            event={rows.panelEvent}
            rowStyle={rowStyle}
            actions={actions}
            rowActions={rows.rowActions}
            isPinned={pinned.ids.has(eventId(rows.panelEvent))}
          />
        )}
      </div>
    </>
  )
}

const ROWS = Array.from({ length: 24 }, (_, at) => 40 + ((at * 37) % 50))

/** Replaces the rows of a query that was cancelled: those of the query before would mislead. */
function CancelledQuery({ onRun }: { onRun(): unknown }) {
  return (
    <div role="status" className="flex flex-col items-center gap-2 p-6 text-soft">
      <p>Query cancelled. It has no result.</p>
      <Button onClick={() => onRun()}>Run</Button>
    </div>
  )
}

type NewEventsButtonProps = { pending: number; sinceMs: number | undefined; zone: Zone; onClick(): void }

function NewEventsButton({ pending, sinceMs, zone, onClick }: NewEventsButtonProps) {
  return (
    <Button
      variant="main"
      size="small"
      className="absolute top-2 left-1/2 z-20 -translate-x-1/2 shadow-lg"
      title={sinceMs === undefined ? undefined : `New since ${clockOf(sinceMs, zone).clock.slice(0, 8)}`}
      onClick={onClick}
    >
      <Icon of={ArrowUp} size="small" /> {count(pending)} new
    </Button>
  )
}

type ListEndProps = {
  query: ExploreQuery
  rowStyle: RowStyle
  isMore: boolean
  isOld: boolean
  isFetching: boolean
  isOldestFirst: boolean
}

/** The footer below the last row. */
function ListEnd({ query, rowStyle, isMore, isOld, isFetching, isOldestFirst }: ListEndProps) {
  const { fromMs, toMs } = boundsOf(query.range, Date.now())
  const { day, clock } = clockOf(isOldestFirst ? toMs : fromMs, rowStyle.zone)
  const text = isFetching
    ? 'Loading…'
    : isMore
      ? 'More below'
      : isOld
        ? 'The old rows end here'
        : `The range ends here, at ${day} ${clock.slice(0, 8)}`
  return <p className="p-2 text-center text-soft text-xs tabular-nums">{text}</p>
}
