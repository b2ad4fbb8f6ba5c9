import type { Event } from '@dendro/api'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { type ChangeParams, type ExploreParams, optional } from '../../explore-params.ts'
import { eventId, eventRefId, eventRefOf, eventRefText, readEventRef } from '../detail/event-link.ts'

type LinkedEventOptions = {
  params: ExploreParams
  change: ChangeParams
  loadedEvents: readonly Event[]
  isLoaded: boolean
  /** The event that is open on the page. */
  opened: Event | undefined
  /** Opens one of the loaded events. */
  onFound(index: number): void
  /** Closes all events: Back has led to an address without one. */
  onGone(): void
}

/** The keys j and k go through many events; the browser takes only some changes of the address in a second. */
const PAUSE_MS = 200

/**
 * Keeps the open event in the address, and opens the event of a link: in its row, or in its context where it is not among the loaded rows, because the
 * range has moved on or later rows are not loaded. The context also says where the event is gone.
 */
export function useLinkedEvent({ params, change, loadedEvents, isLoaded, opened, onFound, onGone }: LinkedEventOptions): void {
  const [linked, setLinked] = useState(params.o)
  const known = useRef(params.o)
  // The rows and the open event appear together: in between, a click to open the event would close it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the browser has gone to another address
  useLayoutEffect(() => {
    if (params.o === known.current) return
    known.current = params.o
    setLinked(params.o)
    if (params.o === undefined) onGone()
  }, [params.o])
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the rows of the query have come
  useLayoutEffect(() => {
    const eventRef = linked === undefined ? undefined : readEventRef(linked)
    if (!eventRef || !isLoaded) return
    const id = eventRefId(eventRef)
    const index = loadedEvents.findIndex((event) => eventId(event) === id)
    setLinked(undefined)
    if (index >= 0) return onFound(index)
    known.current = undefined
    change((now) => optional({ e: linked, ...now, o: undefined }), { replaces: true })
  }, [linked, isLoaded])
  const wanted = linked ?? (opened && eventRefText(eventRefOf(opened)))
  const changedMs = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (wanted === known.current) return
    const write = () => {
      known.current = wanted
      changedMs.current = performance.now()
      change((now) => optional({ ...now, o: wanted }), { replaces: true })
    }
    const pauseMs = changedMs.current + PAUSE_MS - performance.now()
    // At once after a pause, so that the address has the event before the next action makes another.
    if (pauseMs <= 0) return write()
    const timer = setTimeout(write, pauseMs)
    return () => clearTimeout(timer)
  }, [wanted, change])
}
