import type { Event } from '@dendro/api'
import { useCallback, useEffect, useState } from 'react'
import { FailureNote } from '../../parts/failure.tsx'
import { count } from '../../parts/numbers.ts'
import { boundsOf, clockOf } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import type { Asked } from './asked.ts'
import type { Columns } from './columns.ts'
import { NothingFound } from './empty.tsx'
import { EventList } from './event-list.tsx'
import type { RowLook } from './event-row.tsx'
import type { useLive } from './live.ts'
import type { Question, useEvents } from './questions.ts'
import { type Change, isOfQuery, type useRows } from './state.ts'
import type { ValueActions } from './value-menu.tsx'

type EventsViewProps = {
  asked: Asked
  change: Change
  question: Question
  events: ReturnType<typeof useEvents>
  live: ReturnType<typeof useLive>
  isLive: boolean
  found: readonly Event[]
  look: RowLook
  columns: Columns
  rows: ReturnType<typeof useRows>
  actions: ValueActions
  hasDatasets: boolean
}

/** EventsView is the list of events, found or as they arrive; while somebody reads further down, what arrives waits above. */
export function EventsView(props: EventsViewProps) {
  const { asked, change, question, events, live, isLive, found, look, columns, rows, actions, hasDatasets } = props
  const [top, setTop] = useState(0)
  const onEnd = useCallback(() => {
    if (!isLive && events.hasNextPage && !events.isFetching) void events.fetchNextPage()
  }, [isLive, events])
  const { still } = live
  const onTop = useCallback((isAtTop: boolean) => still(!isAtTop), [still])
  useEffect(() => still(false), [still])
  const isNothing = found.length === 0
  return (
    <div className="relative min-h-0 flex-1">
      {isLive && live.failure !== undefined && <FailureNote thrown={live.failure} />}
      {!isLive && events.error && !isOfQuery(events.error) && <FailureNote thrown={events.error} again={() => events.refetch()} />}
      {isLive && live.fresh > 0 && (
        <Button
          look="main"
          size="small"
          className="absolute top-2 left-1/2 z-20 -translate-x-1/2 shadow-lg"
          onClick={() => {
            still(false)
            setTop((before) => before + 1)
          }}
        >
          <span aria-hidden>↑</span> {count(live.fresh)} new
        </Button>
      )}
      {events.error && isNothing && !isLive ? null : isNothing && (isLive || !events.isFetching) ? (
        <NothingFound asked={asked} question={question} isLive={isLive} hasDatasets={hasDatasets} onChange={change} />
      ) : (
        <EventList
          events={found}
          look={look}
          columns={columns}
          open={rows.open}
          current={rows.current}
          isOld={!isLive && events.isPlaceholderData}
          actions={actions}
          onToggle={rows.toggle}
          onContext={rows.showContext}
          onEnd={onEnd}
          onTop={onTop}
          top={top}
          end={isLive ? null : <End question={question} look={look} isMore={events.hasNextPage} isFetching={events.isFetching} />}
        />
      )}
    </div>
  )
}

type EndProps = { question: Question; look: RowLook; isMore: boolean; isFetching: boolean }

/** End stands below the last row: more is coming, or the range ends, and when. */
function End({ question, look, isMore, isFetching }: EndProps) {
  const { day, clock } = clockOf(boundsOf(question.range, Date.now()).fromMs, look.zone)
  const said = isFetching ? 'Reading …' : isMore ? 'More below' : `The range ends here, at ${day} ${clock.slice(0, 8)}`
  return <p className="p-2 text-center text-soft text-xs tabular-nums">{said}</p>
}
