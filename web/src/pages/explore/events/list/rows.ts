import type { Event } from '@dendro/api'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { type ChangeParams, type ExploreParams, optional } from '../../explore-params.ts'
import { eventId, eventRefOf, eventRefText } from '../detail/event-link.ts'
import { continueFind, emptyFind, type FindProgress } from '../find/find.ts'
import type { PinnedEvents } from '../pinned/pinned-events.ts'
import { continueFold, EMPTY_FOLD, type FoldProgress, foldedRows, type RowMap, unfoldedRows } from './repeats.ts'
import { NO_ITEMS, type NumberedItems, renumber } from './row-numbers.ts'
import type { DetailPlacement } from './row-options.ts'
import type { RowActions } from './row-style.ts'
import { useLinkedEvent } from './use-linked-event.ts'

/** Rows hold which events have rows, which are open, and which one the keyboard shortcuts act on. */
export type Rows = ReturnType<typeof useRows>

const NO_IDS: ReadonlySet<string> = new Set()
/** How long processing of loaded events may block the page. */
const SLICE_MS = 8

type RowsOptions = {
  loadedEvents: readonly Event[]
  params: ExploreParams
  change: ChangeParams
  /** Whether the loaded events are those of the query. */
  isLoaded: boolean
  /** The query of the loaded events; another one starts a list of other rows. */
  source: string
  detail: DetailPlacement
  pinned: PinnedEvents
}

export function useRows({ loadedEvents, params, change, isLoaded, source, detail, pinned }: RowsOptions) {
  const [panelEvent, setPanelEvent] = useState<Event>()
  /** Those open below their rows, the last opened last. */
  const [opened, setOpened] = useState<readonly Event[]>([])
  const open = useMemo<ReadonlySet<string>>(() => new Set(opened.map(eventId)), [opened])
  const [expandedRuns, setExpandedRuns] = useState(NO_IDS)
  const [current, setCurrent] = useState(-1)
  const isLive = params.live === true
  const closeAll = useCallback(() => {
    setPanelEvent(undefined)
    setOpened([])
  }, [])
  // The live tail has other rows.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when the rows become others
  useEffect(() => {
    closeAll()
    setCurrent(-1)
  }, [isLive])
  const rowMap = useRowMap(loadedEvents, params.fold === true, expandedRuns)
  const eventAt = useCallback((row: number): Event | undefined => loadedEvents[rowMap.indexAt(row)], [loadedEvents, rowMap])
  const keys = useRowKeys(loadedEvents)
  const keyAt = useCallback((row: number): number => keys[rowMap.indexAt(row)] ?? -1, [keys, rowMap])
  const opensPanel = detail === 'beside'
  const toggle = useCallback(
    (event: Event) => {
      if (opensPanel) return setPanelEvent((before) => (before && eventId(before) === eventId(event) ? undefined : event))
      setOpened((before) => {
        const others = before.filter((one) => eventId(one) !== eventId(event))
        return others.length < before.length ? others : [...others, event]
      })
    },
    [opensPanel],
  )
  const isOpen = (event: Event): boolean =>
    opensPanel ? panelEvent !== undefined && eventId(panelEvent) === eventId(event) : open.has(eventId(event))
  const show = (index: number) => {
    const event = loadedEvents[index]
    if (!event) return
    if (!isOpen(event)) toggle(event)
    goTo(index)
  }
  const last = opensPanel ? panelEvent : opened.at(-1)
  const lastIndex = useMemo(
    () => (last === undefined ? -1 : loadedEvents.findIndex((event) => eventId(event) === eventId(last))),
    [last, loadedEvents],
  )
  const [currentSource, setCurrentSource] = useState(source)
  if (currentSource !== source) {
    // Another event has the number of the current row now; the open one is found again.
    setCurrentSource(source)
    setCurrent(lastIndex < 0 ? -1 : rowMap.rowOf(lastIndex))
  }
  useLinkedEvent({
    params,
    change,
    loadedEvents,
    isLoaded,
    opened: opensPanel || lastIndex >= 0 ? last : undefined,
    onFound: show,
    onGone: closeAll,
  })
  const rowActions = useMemo<RowActions>(
    () => ({
      toggle,
      pin: pinned.toggle,
      showContext: (event) => change((now) => optional({ ...now, e: eventRefText(eventRefOf(event)), ew: undefined })),
      measureFrom: (event) => change((now) => paramsMeasuredFrom(now, eventRefText(eventRefOf(event)))),
      toggleRun: (event) => setExpandedRuns((before) => toggled(before, eventId(event))),
    }),
    [toggle, pinned.toggle, change],
  )
  const go = (row: number) => {
    setCurrent(row)
    const event = eventAt(row)
    if (panelEvent && event) setPanelEvent(event)
  }
  /** Moves to the row of an event, and expands its run if it is collapsed. */
  const goTo = (index: number) => {
    const row = rowMap.rowOf(index)
    const runStart = rowMap.indexAt(row)
    const event = eventAt(row)
    if (runStart !== index && event) rowActions.toggleRun(event)
    go(row + index - runStart)
  }
  const close = () => {
    const event = eventAt(current)
    if (panelEvent) setPanelEvent(undefined)
    else if (event && open.has(eventId(event))) rowActions.toggle(event)
  }
  return {
    ...{ rowMap, open, current, source, rowActions, go, goTo, close, eventAt, keyAt },
    panelEvent: opensPanel ? panelEvent : undefined,
    step: (by: number) => go(Math.min(rowMap.size - 1, Math.max(0, current + by))),
  }
}

/** Measures from an event, or from row to row if that event is the marked one already. */
const paramsMeasuredFrom = (now: ExploreParams, eventRef: string): ExploreParams =>
  optional({ ...now, gap: true, m: now.m === eventRef ? undefined : eventRef })

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(before)
  if (!next.delete(id)) next.add(id)
  return next
}

/** Folds repeats in time slices, so that two hundred thousand rows do not block the page. */
function useRowMap(loadedEvents: readonly Event[], isFolded: boolean, expandedRuns: ReadonlySet<string>): RowMap {
  const progress = useRef<FoldProgress>(EMPTY_FOLD)
  if (isFolded) progress.current = continueFold(progress.current, loadedEvents, timeBudget())
  const folded = progress.current
  useContinue(isFolded && folded.reached < loadedEvents.length)
  return useMemo(() => {
    if (!isFolded) return unfoldedRows(loadedEvents.length)
    const runStarts =
      expandedRuns.size === 0
        ? []
        : folded.runStarts.filter((runStart) => loadedEvents[runStart] && expandedRuns.has(eventId(loadedEvents[runStart])))
    return foldedRows(folded, new Set(runStarts))
  }, [isFolded, loadedEvents, folded, expandedRuns])
}

/** Finds a text in the loaded events in time slices, and continues when more events load. */
export function useFind(loadedEvents: readonly Event[], text: string): FindProgress {
  const progress = useRef(emptyFind(''))
  progress.current = continueFind(progress.current, text, loadedEvents, timeBudget())
  useContinue(text !== '' && progress.current.reached < loadedEvents.length)
  return progress.current
}

/** Gives every event a number as its key, which is cheaper than a text for all rows. */
function useRowKeys(loadedEvents: readonly Event[]): readonly number[] {
  const progress = useRef<NumberedItems<Event>>(NO_ITEMS)
  return useMemo(() => {
    progress.current = renumber(progress.current, loadedEvents)
    return progress.current.numbers
  }, [loadedEvents])
}

function timeBudget(): () => boolean {
  const endMs = performance.now() + SLICE_MS
  return () => performance.now() < endMs
}

/** Renders again after a timeout while work is left. */
function useContinue(isMore: boolean): void {
  const [step, setStep] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step schedules the next
  useEffect(() => {
    if (!isMore) return
    const timer = setTimeout(() => setStep((before) => before + 1))
    return () => clearTimeout(timer)
  }, [isMore, step])
}
