import { lazy, Suspense } from 'react'
import { loadCode } from '../../parts/shell/page-code.ts'
import { useCancelHidden } from './cancel-hidden.ts'
import { readEventRef } from './events/detail/event-link.ts'
import { ValueToolbar } from './events/detail/value-toolbar.tsx'
import { useExploreCommands } from './explore-commands.ts'
import { optional, withQuery, withRange } from './explore-params.ts'
import { type ExploreState, type PageState, useExploreState, usePageState } from './explore-state.ts'
import { FieldList } from './fields/field-list.tsx'
import { ResizeHandle, useFieldPaneWidth } from './fields/resize-handle.tsx'
import { joinClauses, splitClauses } from './query/clauses.ts'
import { isQueryError } from './query/explore-query.ts'
import { QueryBar } from './query/query-bar.tsx'
import { TabView } from './tab-view.tsx'
import { comparisonName } from './time/compare.ts'
import { CompareWith } from './time/compare-with.tsx'
import { type EventStatus, Histogram, statusClause } from './time/histogram.tsx'
import { MarkerList, MarkerStrip } from './time/marker-strip.tsx'
import { ViewBar } from './view-bar.tsx'

/** What is opened over the page is loaded when it is: the first rows do not wait for it. */
const ContextView = lazy(() =>
  loadCode(() => import('./events/detail/context-view.tsx')).then(({ ContextView: component }) => ({ default: component })),
)
const PinnedEventsView = lazy(() =>
  loadCode(() => import('./events/pinned/pinned-events-view.tsx')).then(({ PinnedEventsView: component }) => ({ default: component })),
)
const Shortcuts = lazy(() => loadCode(() => import('./shortcuts.tsx')).then(({ Shortcuts: component }) => ({ default: component })))

/** Searches events. The URL holds its state; each part loads and fails independently. */
export function ExplorePage() {
  const state = useExploreState()
  const page = usePageState()
  useExploreCommands(state, page)
  useCancelHidden()
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Explore</h1>
      <QuerySection state={state} page={page} />
      {/* On a phone the histogram is low. */}
      <div className="max-sm:[&_svg[role=img]]:h-11">
        <HistogramSection state={state} />
      </div>
      <div className="flex min-h-0 flex-1">
        {page.hasFields && <FieldPane state={state} />}
        <div className="flex min-w-0 flex-1 flex-col">
          <ViewSection state={state} page={page} />
          <div className="flex min-h-0 flex-1 flex-col">
            <TabView state={state} />
          </div>
          {state.pinned.events.length > 0 && (
            <Suspense>
              <PinnedEventsView
                pinned={state.pinned}
                rowStyle={state.rowStyle}
                actions={state.actions}
                onContext={state.rows.rowActions.showContext}
              />
            </Suspense>
          )}
        </div>
      </div>
      <ValueToolbar actions={state.actions} />
      <Suspense>
        <ContextSection state={state} />
        {page.isHelp && <Shortcuts onClose={() => page.setHelp(false)} />}
      </Suspense>
    </div>
  )
}

type Props = { state: ExploreState }

function QuerySection({ state, page }: Props & { page: PageState }) {
  const { params, change, query, zone, setZone, refresh, toggleLive, columns, loadedEvents, allFields, events, bars, groups, view } = state
  return (
    <QueryBar
      {...{ params, change, query, zone, setZone, refresh, toggleLive, columns, loadedEvents, view }}
      fields={allFields.data?.fields ?? []}
      failure={events.error ?? bars.error ?? groups.error}
      isBusy={state.isBusy}
      inputRef={page.input}
      onCancel={state.cancel}
    />
  )
}

function HistogramSection({ state: { params, query, bars, earlier, comparison, markers, zone, change, isCancelled, isLive } }: Props) {
  const earlierBars = comparison && earlier.bars.data
  return (
    <Histogram
      bars={isCancelled ? undefined : bars.data}
      earlier={earlierBars && { bars: earlierBars, name: comparisonName(comparison, query.range) }}
      isStale={bars.isPlaceholderData || (bars.isFetching && !isLive)}
      failure={isQueryError(bars.error) ? undefined : bars.error}
      note={isQueryError(bars.error) ? 'No result' : isCancelled ? 'Query cancelled' : undefined}
      zone={zone}
      selection={params.sf !== undefined && params.st !== undefined ? { fromMs: params.sf, toMs: params.st } : undefined}
      canReset={params.f !== undefined || params.r !== undefined}
      overlay={bars.data && markers.markers && <MarkerStrip markers={markers.markers.markers} bars={bars.data} zone={zone} />}
      tools={
        <>
          <MarkerList markers={markers.markers} failure={markers.failure} zone={zone} onRetry={markers.retry} />
          <CompareWith comparison={params.cmp} range={query.range} failure={earlier.bars.error} change={change} />
        </>
      }
      onSelect={(bar) => change((now) => optional({ ...now, live: undefined, sf: bar?.fromMs, st: bar?.toMs }))}
      onRange={(range) => change((now) => withRange(optional({ ...now, live: undefined }), range))}
      onReset={() => change(({ r: _r, f: _f, t: _t, sf: _sf, st: _st, ...now }) => now)}
      onChanges={() => change((now) => ({ ...now, tab: 'changes' }))}
      onRetry={() => bars.refetch()}
      where={query.where}
      onStatus={(status) => change((now) => withQuery(now, toggleStatus(now.q ?? '', status)))}
    />
  )
}

/** Replaces the filter of a status by another, or removes it. */
function toggleStatus(query: string, status: EventStatus): string {
  const own = statusClause(status)
  const others = splitClauses(query).filter((clause) => !STATUS_CLAUSES.includes(clause))
  return joinClauses(splitClauses(query).includes(own) ? others : [...others, own])
}

const STATUS_CLAUSES = (['error', 'warn', 'info'] as const).map(statusClause)

function FieldPane({ state: { fields, selectedQuery, actions } }: Props) {
  const [width, setWidth] = useFieldPaneWidth(FIELDS_PX)
  return (
    <aside className="relative max-w-[45vw] shrink-0 border-line border-r bg-panel" style={{ width }}>
      <FieldList
        query={selectedQuery}
        fields={fields.data}
        count={fields.count}
        isStale={fields.isPlaceholderData}
        failure={isQueryError(fields.error) ? undefined : fields.error}
        hasResult={!isQueryError(fields.error)}
        actions={actions}
        onRetry={() => fields.refetch()}
      />
      <ResizeHandle label="Width of the field list" width={width} onWidth={setWidth} />
    </aside>
  )
}

const FIELDS_PX = 256

function ViewSection({ state, page: { hasFields, setHasFields } }: Props & { page: PageState }) {
  const { params, change, columns, tab, show, live, isLive, result, view, rowStyle, detail, setRowOptions, find } = state
  return (
    <ViewBar
      {...{ params, change, columns, hasFields, setHasFields, tab, show, live, isLive, result, view, detail, setRowOptions }}
      density={rowStyle.density}
      onFind={find.open}
    />
  )
}

function ContextSection({ state: { params, rowStyle, columns, actions, rows, change, pinned } }: Props) {
  const eventRef = params.e === undefined ? undefined : readEventRef(params.e)
  if (!eventRef) return null
  return (
    <ContextView
      anchor={eventRef}
      side={params.ew ?? 'both'}
      only={params.eo}
      rowStyle={rowStyle}
      columns={columns}
      actions={actions}
      rowActions={rows.rowActions}
      pinnedIds={pinned.ids}
      onSide={(side) => change((now) => optional({ ...now, ew: side === 'both' ? undefined : side }))}
      onOnly={(only) => change((now) => optional({ ...now, eo: only }))}
      onClose={() => change(({ e: _, ew: _ew, eo: _eo, ...now }) => now)}
    />
  )
}
