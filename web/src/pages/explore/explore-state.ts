import type { Event } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useFirstDatasets } from '../../parts/datasets/datasets.ts'
import type { QueryFocus } from '../../parts/query/query-input.tsx'
import { useMe } from '../../parts/shell/me.ts'
import { useChanges } from './changes/use-changes.ts'
import { useValueActions } from './events/detail/use-value-actions.ts'
import { useFindState } from './events/find/find-bar.tsx'
import { useRows } from './events/list/rows.ts'
import { useEvents } from './events/list/use-events.ts'
import { useResultStyle, useRowStyle } from './events/list/use-row-style.ts'
import { useLiveTail } from './events/live/live-tail.ts'
import { usePinnedEvents } from './events/pinned/pinned-events.ts'
import { optional, type Tab } from './explore-params.ts'
import { useAllFields, useFields } from './fields/use-fields.ts'
import { useGroups } from './groups/groups.ts'
import { COUNT, splitMeasures } from './groups/measures.ts'
import { type Pattern, usePatterns, usePatternTrends } from './patterns/patterns.ts'
import type { ExploreQuery } from './query/explore-query.ts'
import { useHistory } from './query/history-menu.tsx'
import { resultInfoOf } from './query/result-info.ts'
import { useExploreQuery } from './query/use-explore-query.ts'
import { useKept } from './query/use-kept.ts'
import { useBars } from './time/bars.ts'
import { useEarlierBars, useEarlierGroups, useEarlierPatterns } from './time/use-earlier.ts'
import { useMarkers } from './time/use-markers.ts'

/** Holds the parameters, queries and results of the page. Each part loads and fails independently. */
export type ExploreState = ReturnType<typeof useExploreState>

/** Reads the URL and runs its queries. */
export function useExploreState() {
  const params = useSearch({ from: '/inside/explore' })
  const { change, undo, query, selectedQuery, zone, setZone, refresh } = useExploreQuery(params)
  const find = useFindState()
  const { columns, rowStyle: plainStyle, detail, setRowOptions } = useRowStyle(params, change, query, zone, find.text ?? '')
  const tab = params.tab ?? 'events'
  const isLive = params.live === true
  const by = useMemo(() => params.by ?? [], [params.by])
  const measures = useMemo(() => splitMeasures(params.fn ?? COUNT), [params.fn])
  const measure = measures[0] ?? COUNT
  const foundEvents = useEvents(selectedQuery, tab === 'events' && !isLive, params.asc === true)
  const events = { ...foundEvents, ...useKept(foundEvents, selectedQuery, String(params.asc)) }
  const isCancelled = tab === 'events' && !isLive && isCancelledQuery(foundEvents)
  const isReady = useAfterEvents(foundEvents, tab === 'events' && !isLive, query)
  const bars = useBars(query, isReady, isLive)
  const fields = useFields(selectedQuery, isReady)
  const allFields = useAllFields(query, isReady && !fields.isLoading)
  const foundPatterns = usePatterns(selectedQuery, tab === 'patterns')
  const patterns = { ...foundPatterns, ...useKept(foundPatterns, selectedQuery) }
  const trends = usePatternTrends(selectedQuery, tab === 'patterns')
  const foundGroups = useGroups(selectedQuery, by, measures, tab === 'table' || tab === 'chart' ? tab : undefined)
  const groups = { ...foundGroups, ...useKept(foundGroups, selectedQuery, JSON.stringify([by, measures, tab])) }
  const selection = params.sf === undefined || params.st === undefined ? undefined : { fromMs: params.sf, toMs: params.st }
  const baseline = params.base ?? 'before'
  const changes = useChanges(query, selection, baseline, tab === 'changes')
  const comparison = isLive ? undefined : params.cmp
  const earlier = {
    bars: useEarlierBars(query, bars.data, comparison),
    patterns: useEarlierPatterns(selectedQuery, comparison, tab === 'patterns'),
    groups: useEarlierGroups(selectedQuery, by, measure, foundGroups.data, comparison),
  }
  const hasRows = isLive || !(events.isLoading || bars.isLoading)
  const markers = useMarkers(query, bars.data, hasRows)
  const result = resultInfoOf({ tab, changes, events: foundEvents, patterns: foundPatterns, trends, groups: foundGroups, fields })
  useHistory(params, result, isLive)
  const live = useLiveTail(query.datasets, query.where, isLive)
  const queries = useQueryClient()
  const actions = useValueActions(change, columns)
  const me = useMe().data
  const pinned = usePinnedEvents(me && `${me.org_id} ${me.id}`)
  const loadedEvents = useMemo(
    () => (isLive ? live.events : (events.data?.pages.flatMap((page) => page.events) ?? [])),
    [isLive, live.events, events.data],
  )
  const rowStyle = useResultStyle(plainStyle, {
    firstEvents: isLive ? undefined : events.data?.pages[0]?.events,
    datasetIds: useShownDatasets([loadedEvents, pinned.events], patterns.data?.patterns),
  })
  const firstDatasets = useFirstDatasets()
  const isLoaded = isLive || foundEvents.isError || (foundEvents.data !== undefined && !foundEvents.isPlaceholderData)
  const source = useSource([selectedQuery.datasets, selectedQuery.where, selectedQuery.range, params.asc, isLive], isLoaded)
  const rows = useRows({ loadedEvents, params, change, isLoaded, source, detail, pinned })
  const show = useCallback((next: Tab) => change((now) => optional({ ...now, tab: next === 'events' ? undefined : next })), [change])
  const toggleLive = () =>
    change((now) => optional({ ...now, live: now.live ? undefined : true, tab: undefined, sf: undefined, st: undefined }))
  return {
    ...{
      params,
      change,
      undo,
      query,
      selectedQuery,
      zone,
      setZone,
      refresh,
      columns,
      rowStyle,
      tab,
      isLive,
      by,
      measure,
      measures,
    },
    ...{ changes, selection, baseline },
    ...{ comparison, earlier, markers, result, view: { tab, query: selectedQuery, by, measure, compared: { query, selection, baseline } } },
    ...{ events, bars, fields, allFields, patterns, trends, groups, live, actions, rows, loadedEvents, show, toggleLive },
    ...{ find, pinned, detail, setRowOptions, isCancelled },
    firstDatasets,
    // Also while that is unknown.
    hasReceived: firstDatasets.totals === undefined || firstDatasets.totals.received > 0,
    isBusy: !isLive && (events.isFetching || bars.isFetching || patterns.isFetching || groups.isFetching || changes.isFetching),
    cancel: () => void queries.cancelQueries(),
  }
}

/** The query of the loaded events: until those of another query have loaded, the one before. A refresh is the same query. */
function useSource(query: unknown, isLoaded: boolean): string {
  const loaded = useRef<string>(null)
  if (isLoaded || loaded.current === null) loaded.current = JSON.stringify(query)
  return loaded.current
}

/** True for a query that was stopped before its first result: the rows still on the screen belong to the query before. */
const isCancelledQuery = ({ isPending, isPlaceholderData, isFetching, isError }: ReturnType<typeof useEvents>): boolean =>
  (isPending || isPlaceholderData) && !isFetching && !isError

/** The longest time that other queries wait for the event list. */
const EVENTS_WAIT_MS = 400

/** Delays the other queries until the events have loaded: parallel queries would slow down the list. After a cancelled query nothing runs. */
function useAfterEvents(events: ReturnType<typeof useEvents>, isFirst: boolean, query: ExploreQuery): boolean {
  const [readyQuery, setReadyQuery] = useState<ExploreQuery>()
  const { isFetching, isError, isPlaceholderData, data } = events
  const isLoaded = isError || (data !== undefined && !isPlaceholderData)
  const isReady = readyQuery === query || isLoaded || !isFirst
  useEffect(() => {
    if (isReady) return setReadyQuery(query)
    if (!isFetching) return
    const waiting = setTimeout(() => setReadyQuery(query), EVENTS_WAIT_MS)
    return () => clearTimeout(waiting)
  }, [isReady, isFetching, query])
  return isReady
}

/** The local state of the page: the help dialog, the field list and the query input. */
export function usePageState() {
  const [isHelp, setHelp] = useState(false)
  const [hasFields, setHasFields] = useState(() => matchMedia('(min-width: 900px)').matches)
  const input = useRef<QueryFocus>(null)
  return { isHelp, setHelp, hasFields, setHasFields, input }
}

export type PageState = ReturnType<typeof usePageState>

/** The datasets of events and patterns, which are named. */
function useShownDatasets([loaded, pinned]: readonly [readonly Event[], readonly Event[]], patterns: readonly Pattern[] | undefined) {
  return useMemo(() => {
    const ofEvents = [...loaded, ...pinned].map(({ metadata }) => metadata.service_id)
    return [...new Set([...ofEvents, ...(patterns ?? []).flatMap(({ datasets }) => datasets)])]
  }, [loaded, pinned, patterns])
}
