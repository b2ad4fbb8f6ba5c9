import { lazy, Suspense } from 'react'
import { optional, withRange } from './asked.ts'
import type { Asking } from './asking.ts'
import { isNotValue, isValue } from './clauses.ts'
import { EventsView } from './events-view.tsx'
import { FieldsView } from './fields-view.tsx'
import { COUNT, GroupBar } from './group-bar.tsx'
import { GroupTable } from './group-views.tsx'
import { PatternList } from './pattern-list.tsx'

// What draws is fetched when somebody wants a chart: most questions never do.
const GroupChart = lazy(() => import('./group-chart.tsx').then(({ GroupChart: component }) => ({ default: component })))

type Props = { asking: Asking }

/** TabView is the events in the way that was chosen: one by one, or as patterns, groups or fields. */
export function TabView({ asking }: Props) {
  const views = {
    events: () => <EventsView asking={asking} />,
    patterns: () => <Patterns asking={asking} />,
    table: () => <Groups asking={asking} />,
    chart: () => <Groups asking={asking} />,
    fields: () => <Fields asking={asking} />,
  }
  return views[asking.tab]()
}

function Patterns({ asking: { patterns, trends, zone, look, actions } }: Props) {
  return (
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
  )
}

function Groups({ asking }: Props) {
  const { tab, groups, by, measure, fields, zone, actions, change } = asking
  const group = {
    ...{ groups: groups.data, by, measure, zone, actions },
    isOld: groups.isPlaceholderData,
    failure: groups.error,
    again: groups.refetch,
  }
  return (
    <>
      <GroupBar
        by={by}
        measure={measure}
        fields={fields.data?.fields ?? []}
        onGroup={(next) => change((now) => optional({ ...now, by: next }))}
        onMeasure={(next) => change((now) => optional({ ...now, fn: next === COUNT ? undefined : next }))}
      />
      {tab === 'table' ? (
        <GroupTable {...group} />
      ) : (
        <Suspense fallback={<p className="p-3 text-soft">Measuring …</p>}>
          <GroupChart
            {...group}
            onPick={(sf, st) => change((now) => optional({ ...now, tab: undefined, sf, st }))}
            onRange={(fromMs, toMs) => change((now) => withRange(now, { fromMs, toMs }))}
          />
        </Suspense>
      )}
    </>
  )
}

function Fields({ asking: { fields, actions } }: Props) {
  return (
    <FieldsView fields={fields.data} isOld={fields.isPlaceholderData} failure={fields.error} actions={actions} again={fields.refetch} />
  )
}
