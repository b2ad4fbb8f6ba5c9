import type { Dataset } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useMe } from '../../parts/me.ts'
import type { QueryFocus } from '../../parts/query-input.tsx'
import { answeredOf } from './answered.ts'
import { optional, type Tab } from './asked.ts'
import { useSeeking } from './find-bar.tsx'
import { COUNT } from './group-bar.tsx'
import { useGroups } from './groups.ts'
import { useHistory } from './history-menu.tsx'
import { useLive, useStrangers } from './live.ts'
import { usePatterns, usePatternTrends } from './patterns.ts'
import { type Question, useBars, useEvents, useFields } from './questions.ts'
import { useRows } from './rows.ts'
import { useActions, useAsked, useRowStyle } from './state.ts'
import { useTray } from './tray.ts'
import { useEarlierBars, useEarlierGroups, useEarlierPatterns } from './use-earlier.ts'
import { useMarkers } from './use-markers.ts'

/** Asking is everything the page asks about and what came of it: every part loads and fails on its own. */
export type Asking = ReturnType<typeof useAsking>

/** useAsking reads the address and asks what it says. */
export function useAsking() {
  const asked = useSearch({ from: '/inside/explore' })
  const { change, question, chosen, zone, setZone, askAgain } = useAsked(asked)
  const seeking = useSeeking()
  const { datasets, columns, look, detail, setReading } = useRowStyle(asked, change, question, zone, seeking.text ?? '')
  const tab = asked.tab ?? 'events'
  const isLive = asked.live === true
  const by = useMemo(() => asked.by ?? [], [asked.by])
  const measure = asked.fn ?? COUNT
  const events = useEvents(chosen, tab === 'events' && !isLive, asked.asc === true)
  const isTurn = useTurnAfter(events, tab === 'events' && !isLive, question)
  const bars = useBars(question, isTurn)
  const fields = useFields(question, isTurn)
  const patterns = usePatterns(chosen, tab === 'patterns')
  const trends = usePatternTrends(chosen, tab === 'patterns')
  const groups = useGroups(chosen, by, measure, tab === 'table' || tab === 'chart' ? tab : undefined)
  const against = isLive ? undefined : asked.cmp
  const earlier = {
    bars: useEarlierBars(question, bars.data, against),
    patterns: useEarlierPatterns(chosen, against, tab === 'patterns'),
    groups: useEarlierGroups(chosen, by, measure, groups.data, against),
  }
  const hasRows = isLive || !(events.isLoading || bars.isLoading)
  const markers = useMarkers(question, bars.data, hasRows)
  const answered = answeredOf({ tab, events, patterns, trends, groups, fields })
  useHistory(asked, answered, isLive)
  const live = useLive(question.datasets, question.where, isLive)
  useStrangers(live.events, datasets)
  const queries = useQueryClient()
  const actions = useActions(change, columns)
  const me = useMe().data
  const tray = useTray(me && `${me.org_id} ${me.id}`)
  const found = useMemo(
    () => (isLive ? live.events : (events.data?.pages.flatMap((page) => page.events) ?? [])),
    [isLive, live.events, events.data],
  )
  const rows = useRows({ found, asked, change, detail, tray })
  const show = useCallback((next: Tab) => change((now) => optional({ ...now, tab: next === 'events' ? undefined : next })), [change])
  const turnLive = () =>
    change((now) => optional({ ...now, live: now.live ? undefined : true, tab: undefined, sf: undefined, st: undefined }))
  return {
    ...{ asked, change, question, chosen, zone, setZone, askAgain, datasets, columns, look, tab, isLive, by, measure },
    ...{ against, earlier, markers, answered, shown: { tab, question: chosen, by, measure } },
    ...{ events, bars, fields, patterns, trends, groups, live, actions, rows, found, show, turnLive },
    ...{ seeking, tray, detail, setReading },
    hasReceived: hasReceived(datasets.data),
    isBusy: !isLive && (events.isFetching || bars.isFetching || patterns.isFetching || groups.isFetching),
    cancel: () => void queries.cancelQueries(),
  }
}

/** TURN_MS is how long the rest of the page waits at most, so that no slow list holds it up. */
const TURN_MS = 400

/** useTurnAfter lets the newest events come first: what is asked all at once is all answered late. After a question that was cancelled nothing comes. */
function useTurnAfter(events: ReturnType<typeof useEvents>, isFirst: boolean, question: Question): boolean {
  const [turn, setTurn] = useState<Question>()
  const { isFetching, isError, isPlaceholderData, data } = events
  const isThere = isError || (data !== undefined && !isPlaceholderData)
  const isTurn = turn === question || isThere || !isFirst
  useEffect(() => {
    if (isTurn) return setTurn(question)
    if (!isFetching) return
    const waiting = setTimeout(() => setTurn(question), TURN_MS)
    return () => clearTimeout(waiting)
  }, [isTurn, isFetching, question])
  return isTurn
}

/** usePageState is what of the page is nobody else's: help, the list of fields, and where one writes. */
export function usePageState() {
  const [isHelp, setHelp] = useState(false)
  const [hasFields, setHasFields] = useState(() => matchMedia('(min-width: 900px)').matches)
  const input = useRef<QueryFocus>(null)
  return { isHelp, setHelp, hasFields, setHasFields, input }
}

export type PageState = ReturnType<typeof usePageState>

/** hasReceived says that some dataset has been heard of; while that is not known, nobody is told the contrary. */
const hasReceived = (list: { datasets: readonly Dataset[] } | undefined): boolean =>
  list === undefined || list.datasets.some(({ metadata }) => metadata.last_heartbeat_at !== undefined)
