import { lazy, Suspense } from 'react'
import type { Field } from '../../parts/query/fields.ts'
import { loadCode } from '../../parts/shell/page-code.ts'
import { Skeleton } from '../../ui/skeleton.tsx'
import { exploreUrl } from './events/detail/event-link.ts'
import { EventsView } from './events/events-view.tsx'
import { EmptyResult, Forbidden, isForbidden } from './events/list/empty-result.tsx'
import { optional, withFixedTimes, withQuery, withRange } from './explore-params.ts'
import type { ExploreState } from './explore-state.ts'
import { isNotValue, isValue, splitClauses, withClause } from './query/clauses.ts'
import { OldResult } from './query/old-result.tsx'
import { comparisonName } from './time/compare.ts'

// The other tabs are loaded on demand: most queries show events only.
const PatternList = lazy(() =>
  loadCode(() => import('./patterns/pattern-list.tsx')).then(({ PatternList: component }) => ({ default: component })),
)

const GroupsView = lazy(() =>
  loadCode(() => import('./groups/groups-view.tsx')).then(({ GroupsView: component }) => ({ default: component })),
)

const FieldsView = lazy(() =>
  loadCode(() => import('./fields/fields-view.tsx')).then(({ FieldsView: component }) => ({ default: component })),
)

const ChangesView = lazy(() =>
  loadCode(() => import('./changes/changes-view.tsx')).then(({ ChangesView: component }) => ({ default: component })),
)

const SidesView = lazy(() => loadCode(() => import('./sides/sides-view.tsx')).then(({ SidesView: component }) => ({ default: component })))

type Props = { state: ExploreState }

/** The open tab: events, patterns, groups, fields or changes. */
export function TabView({ state }: Props) {
  const views = {
    events: () => <EventsView state={state} />,
    patterns: () => <Patterns state={state} />,
    table: () => <GroupsView state={state} emptyView={<NoEvents state={state} />} />,
    chart: () => <GroupsView state={state} emptyView={<NoEvents state={state} />} />,
    fields: () => <Fields state={state} />,
    changes: () => <Changes state={state} />,
    sides: () => <Sides state={state} />,
  }
  return <Suspense fallback={<Skeleton className="px-3" />}>{views[state.tab]()}</Suspense>
}

/** Replaces an empty view and explains why it is empty. */
function NoEvents({ state: { params, selectedQuery, hasReceived, zone, change } }: Props) {
  return <EmptyResult {...{ params, zone, hasReceived }} query={selectedQuery} isLive={false} onChange={change} />
}

function Patterns({ state }: Props) {
  const { patterns, trends, earlier, comparison, selectedQuery, zone, rowStyle, actions, change } = state
  const before = comparison && earlier.patterns.data
  if (isForbidden(patterns.error)) return <Forbidden failure={patterns.error} onRetry={patterns.refetch} />
  return (
    <OldResult of={patterns} noun="patterns" zone={zone}>
      <PatternList
        emptyView={<NoEvents state={state} />}
        patterns={patterns.data?.patterns}
        isCut={patterns.data?.cost.isExact === false}
        trends={trends.data?.trends}
        earlier={before && { patterns: before, name: comparisonName(comparison, selectedQuery.range) }}
        query={selectedQuery}
        isStale={patterns.isPlaceholderData}
        failure={patterns.error}
        zone={zone}
        datasetName={rowStyle.datasetName}
        onInclude={(id) => actions.addClause(isValue('@pattern', id))}
        onExclude={(id) => actions.addClause(isNotValue('@pattern', id))}
        onNarrow={(where) => change((now) => withQuery(now, splitClauses(where).reduce(withClause, now.q ?? '')))}
        onRetry={() => patterns.refetch()}
      />
    </OldResult>
  )
}

function Fields({ state }: Props) {
  const { fields, actions } = state
  return (
    <FieldsView
      emptyView={<NoEvents state={state} />}
      fields={fields.data}
      isStale={fields.isPlaceholderData}
      failure={fields.error}
      actions={actions}
      onRetry={fields.refetch}
    />
  )
}

const Sides = ({ state: { params, query, allFields, zone, setZone, change } }: Props) => (
  <SidesView {...{ params, query, zone, setZone, change }} fields={allFields.data?.fields ?? NO_FIELDS} />
)

const NO_FIELDS: readonly Field[] = []

function Changes({ state: { params, changes, query, selection, baseline, zone, change } }: Props) {
  return (
    <ChangesView
      result={changes}
      {...{ query, selection, baseline, zone }}
      onBaseline={(base) => change((now) => optional({ ...now, base: base === 'before' ? undefined : base }))}
      // The comparison has answered its question: what is filtered has nothing to compare with, so its events are shown.
      onEvents={(where, timeSpan) =>
        change((now) => {
          const narrowed = withQuery(now, withClause(now.q ?? '', where))
          return optional({ ...(timeSpan ? withRange(narrowed, timeSpan) : narrowed), tab: undefined, live: undefined })
        })
      }
      linkOf={(whole) => exploreUrl(withFixedTimes({ ...params, tab: 'changes' }, whole))}
    />
  )
}
