import { useCallback, useEffect, useState } from 'react'
import { FailureNote } from '../../parts/failure.tsx'
import { count } from '../../parts/numbers.ts'
import { boundsOf, clockOf } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import type { Asking } from './asking.ts'
import { Beside } from './beside.tsx'
import { isNotPermitted, NothingFound, NotPermitted } from './empty.tsx'
import { EventList } from './event-list.tsx'
import { FindBar } from './find-bar.tsx'
import { idOf } from './link.ts'
import type { Question } from './questions.ts'
import type { RowLook } from './row.ts'
import { isOfQuery } from './state.ts'

/** EventsView is the list of events, found or as they arrive; while somebody reads further down, what arrives waits above. */
export function EventsView({ asking }: { asking: Asking }) {
  const { asked, change, chosen, events, live, isLive, found, look, columns, rows, actions, hasReceived, seeking, tray } = asking
  const [top, setTop] = useState(0)
  const onEnd = useCallback(() => {
    if (!isLive && events.hasNextPage && !events.isFetching) void events.fetchNextPage()
  }, [isLive, events])
  const { still } = live
  const onTop = useCallback((isAtTop: boolean) => still(!isAtTop), [still])
  useEffect(() => still(false), [still])
  const isNothing = found.length === 0
  const isMore = !isLive && events.hasNextPage
  return (
    <>
      {seeking.text !== undefined && <FindBar seeking={seeking} rows={rows} found={found} isMore={isMore} />}
      <div className="relative flex min-h-0 flex-1">
        <div className="relative min-w-0 flex-1">
          {isLive && live.failure !== undefined && <FailureNote thrown={live.failure} />}
          {!isLive && isNotPermitted(events.error) && <NotPermitted failure={events.error} again={() => events.refetch()} />}
          {!isLive && events.error && !isNotPermitted(events.error) && !isOfQuery(events.error) && (
            <FailureNote thrown={events.error} again={() => events.refetch()} />
          )}
          {isLive && live.fresh > 0 && (
            <Fresh
              fresh={live.fresh}
              onClick={() => {
                still(false)
                setTop((before) => before + 1)
              }}
            />
          )}
          {events.error && isNothing && !isLive ? null : isNothing && (isLive || !events.isFetching) ? (
            <NothingFound asked={asked} question={chosen} isLive={isLive} hasReceived={hasReceived} zone={look.zone} onChange={change} />
          ) : (
            <EventList
              {...{ rows, look, columns, actions, onEnd, onTop, top }}
              isOld={!isLive && events.isPlaceholderData}
              pinned={tray.ids}
              mark={asked.m}
              end={
                isLive ? null : (
                  <End question={chosen} look={look} isMore={isMore} isFetching={events.isFetching} isAsc={asked.asc === true} />
                )
              }
            />
          )}
        </div>
        {rows.beside && (
          <Beside event={rows.beside} look={look} actions={actions} acts={rows.acts} isPinned={tray.ids.has(idOf(rows.beside))} />
        )}
      </div>
    </>
  )
}

function Fresh({ fresh, onClick }: { fresh: number; onClick(): void }) {
  return (
    <Button look="main" size="small" className="absolute top-2 left-1/2 z-20 -translate-x-1/2 shadow-lg" onClick={onClick}>
      <span aria-hidden>↑</span> {count(fresh)} new
    </Button>
  )
}

type EndProps = { question: Question; look: RowLook; isMore: boolean; isFetching: boolean; isAsc: boolean }

/** End stands below the last row: more is coming, or the range ends, and when. */
function End({ question, look, isMore, isFetching, isAsc }: EndProps) {
  const { fromMs, toMs } = boundsOf(question.range, Date.now())
  const { day, clock } = clockOf(isAsc ? toMs : fromMs, look.zone)
  const said = isFetching ? 'Reading …' : isMore ? 'More below' : `The range ends here, at ${day} ${clock.slice(0, 8)}`
  return <p className="p-2 text-center text-soft text-xs tabular-nums">{said}</p>
}
