import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'
import { useCommands } from '../../parts/commands.tsx'
import { presets } from '../../parts/time-range.ts'
import { AskBar } from './ask-bar.tsx'
import { optional, type Tab, tabs, withRange } from './asked.ts'
import { isNotValue, isValue } from './clauses.ts'
import { ContextView } from './context-view.tsx'
import { EventsView } from './events-view.tsx'
import { FieldList } from './field-list.tsx'
import { FieldsView } from './fields-view.tsx'
import { COUNT, GroupBar } from './group-bar.tsx'
import { GroupTable } from './group-views.tsx'
import { useGroups } from './groups.ts'
import { Histogram } from './histogram.tsx'
import { pointedValue, useKeys } from './keys.ts'
import { useCancelUnseen } from './leaving.ts'
import { idOf, readSpot } from './link.ts'
import { useLive } from './live.ts'
import { PatternList } from './pattern-list.tsx'
import { usePatterns, usePatternTrends } from './patterns.ts'
import { useBars, useEvents, useFields } from './questions.ts'
import { recentQueries } from './recent.ts'
import { askedOf, useSavedSearches } from './saved.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { isOfQuery, useActions, useAsked, useLook, useRows } from './state.ts'
import { tabNames, ViewBar } from './view-bar.tsx'

// What draws is fetched when somebody wants a chart: most questions never do.
const GroupChart = lazy(() => import('./group-chart.tsx').then(({ GroupChart: component }) => ({ default: component })))

/** ExplorePage asks about events: what was asked stands in the address, every part loads and fails on its own. */
export function ExplorePage() {
  const asked = useSearch({ from: '/inside/explore' })
  const { change, question, chosen, zone, setZone, askAgain } = useAsked(asked)
  const { datasets, columns, look } = useLook(asked, change, question, zone)
  const tab = asked.tab ?? 'events'
  const isLive = asked.live === true
  const by = useMemo(() => asked.by ?? [], [asked.by])
  const measure = asked.fn ?? COUNT
  const events = useEvents(chosen, tab === 'events' && !isLive)
  const bars = useBars(question, true)
  const fields = useFields(question, true)
  const patterns = usePatterns(chosen, tab === 'patterns')
  const trends = usePatternTrends(chosen, tab === 'patterns')
  const groups = useGroups(chosen, by, measure, tab === 'table' || tab === 'chart' ? tab : undefined)
  const live = useLive(question.datasets, question.where, isLive)
  const queries = useQueryClient()
  const actions = useActions(change, columns)
  const rows = useRows(change)
  const [isHelp, setHelp] = useState(false)
  const [hasFields, setHasFields] = useState(() => matchMedia('(min-width: 900px)').matches)
  const input = useRef<HTMLInputElement>(null)
  useCancelUnseen()

  const found = useMemo(
    () => (isLive ? live.events : (events.data?.pages.flatMap((page) => page.events) ?? [])),
    [isLive, live.events, events.data],
  )
  const show = useCallback((next: Tab) => change((now) => optional({ ...now, tab: next === 'events' ? undefined : next })), [change])
  const turnLive = () =>
    change((now) => optional({ ...now, live: now.live ? undefined : true, tab: undefined, sf: undefined, st: undefined }))
  const at = found[rows.current]
  const onPointed = (act: (name: string, value: string) => void) => {
    const value = pointedValue()
    if (value) act(value.name, value.value)
    else if (at && !rows.open.has(idOf(at))) rows.toggle(idOf(at))
  }
  useKeys({
    '/': () => input.current?.focus(),
    j: () => rows.step(1, found.length),
    k: () => rows.step(-1, found.length),
    x: () => at && rows.toggle(idOf(at)),
    enter: () => at && rows.toggle(idOf(at)),
    c: () => at && rows.showContext(at),
    f: () => onPointed(actions.include),
    'shift f': () => onPointed(actions.exclude),
    l: turnLive,
    t: () => document.querySelector<HTMLElement>('[data-key="t"]')?.click(),
    r: askAgain,
    '?': () => setHelp(true),
  })
  const saved = useSavedSearches(true)
  useCommands(() => [
    ...tabs.map((one) => ({ group: 'Show', name: tabNames[one], run: () => show(one) })),
    { group: 'Do', name: 'Ask again', note: 'r', run: askAgain },
    { group: 'Do', name: isLive ? 'Stop live' : 'Live', note: 'l', run: turnLive },
    { group: 'Do', name: 'Write a query', note: '/', run: () => input.current?.focus() },
    { group: 'Do', name: 'Whole lines again (no columns)', run: columns.reset },
    { group: 'Do', name: 'Keys', note: '?', run: () => setHelp(true) },
    ...presets.map(({ words, name }) => ({ group: 'Time', name, run: () => change((now) => withRange(now, { words })) })),
    ...(saved.data?.saved_searches ?? []).map((one) => ({ group: 'Saved', name: one.name, run: () => change(() => askedOf(one)) })),
    ...recentQueries().map((q) => ({ group: 'Recent', name: q, run: () => change((now) => ({ ...now, q })) })),
    ...(datasets.data?.datasets ?? []).map(({ id, collection, dataset }) => ({
      group: 'Dataset',
      name: `${collection} / ${dataset}`,
      run: () => change((now) => ({ ...now, d: [id] })),
    })),
  ])
  const isBusy = events.isFetching || bars.isFetching || patterns.isFetching || groups.isFetching
  const spot = asked.e === undefined ? undefined : readSpot(asked.e)
  const group = {
    groups: groups.data,
    by,
    measure,
    isOld: groups.isPlaceholderData,
    failure: groups.error,
    zone,
    actions,
    again: groups.refetch,
  }

  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Explore</h1>
      <AskBar
        {...{ asked, change, question, zone, setZone, askAgain, turnLive, columns, found }}
        datasets={datasets.data?.datasets ?? []}
        fields={fields.data?.fields ?? []}
        failure={events.error ?? bars.error ?? groups.error}
        isBusy={isBusy && !isLive}
        inputRef={input}
        onCancel={() => void queries.cancelQueries()}
      />
      <Histogram
        bars={bars.data}
        isOld={bars.isPlaceholderData || bars.isFetching}
        failure={isOfQuery(bars.error) ? undefined : bars.error}
        zone={zone}
        chosen={asked.sf !== undefined && asked.st !== undefined ? { fromMs: asked.sf, toMs: asked.st } : undefined}
        canReset={asked.f !== undefined || asked.r !== undefined}
        onChoose={(bar) => change((now) => optional({ ...now, live: undefined, sf: bar?.fromMs, st: bar?.toMs }))}
        onRange={(range) => change((now) => withRange(optional({ ...now, live: undefined }), range))}
        onReset={() => change(({ r: _r, f: _f, t: _t, sf: _sf, st: _st, ...now }) => now)}
        again={() => bars.refetch()}
      />
      <div className="flex min-h-0 flex-1">
        {hasFields && (
          <aside className="w-64 max-w-[60vw] shrink-0 resize-x overflow-hidden border-line border-r bg-panel max-md:w-44">
            <FieldList
              fields={fields.data}
              isOld={fields.isPlaceholderData}
              failure={fields.error}
              actions={actions}
              again={() => fields.refetch()}
            />
          </aside>
        )}
        <div className="flex min-w-0 flex-1 flex-col">
          <ViewBar {...{ asked, change, columns, hasFields, setHasFields, tab, show, live, isLive }} events={events} />
          <div className="flex min-h-0 flex-1 flex-col">
            {tab === 'events' && (
              <EventsView
                {...{ asked, change, question: chosen, events, live, isLive, found, look, columns, rows, actions }}
                hasDatasets={datasets.data === undefined || datasets.data.datasets.length > 0}
              />
            )}
            {tab === 'patterns' && (
              <PatternList
                patterns={patterns.data}
                trends={trends.data}
                isOld={patterns.isPlaceholderData}
                failure={patterns.error}
                zone={zone}
                nameOf={look.nameOf}
                onInclude={(id) => actions.narrow(isValue('@pattern', id))}
                onExclude={(id) => actions.narrow(isNotValue('@pattern', id))}
                again={() => patterns.refetch()}
              />
            )}
            {(tab === 'table' || tab === 'chart') && (
              <GroupBar
                by={by}
                measure={measure}
                fields={fields.data?.fields ?? []}
                onGroup={(next) => change((now) => optional({ ...now, by: next }))}
                onMeasure={(next) => change((now) => optional({ ...now, fn: next === COUNT ? undefined : next }))}
              />
            )}
            {tab === 'table' && <GroupTable {...group} />}
            {tab === 'chart' && (
              <Suspense fallback={<p className="p-3 text-soft">Measuring …</p>}>
                <GroupChart
                  {...group}
                  onPick={(sf, st) => change((now) => optional({ ...now, tab: undefined, sf, st }))}
                  onRange={(fromMs, toMs) => change((now) => withRange(now, { fromMs, toMs }))}
                />
              </Suspense>
            )}
            {tab === 'fields' && (
              <FieldsView
                fields={fields.data}
                isOld={fields.isPlaceholderData}
                failure={fields.error}
                actions={actions}
                again={fields.refetch}
              />
            )}
          </div>
        </div>
      </div>
      {spot && (
        <ContextView
          anchor={spot}
          look={look}
          actions={actions}
          onContext={rows.showContext}
          onClose={() => change(({ e: _, ...now }) => now)}
        />
      )}
      {isHelp && <Shortcuts onClose={() => setHelp(false)} />}
    </div>
  )
}
