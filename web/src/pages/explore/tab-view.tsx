import { lazy, Suspense } from 'react'
import { optional, withQuery, withRange } from './asked.ts'
import type { Asking } from './asking.ts'
import { isNotValue, isValue, withClause } from './clauses.ts'
import { earlierName } from './compare.ts'
import { isNotPermitted, NothingFound, NotPermitted } from './empty.tsx'
import { EventsView } from './events-view.tsx'
import { FieldsView } from './fields-view.tsx'
import { COUNT, GroupBar } from './group-bar.tsx'
import { groupClauses } from './group-order.ts'
import { GroupTable } from './group-views.tsx'
import { PatternList } from './pattern-list.tsx'

// What draws is fetched when somebody wants a chart: most questions never do.
const GroupChart = lazy(() => import('./group-chart.tsx').then(({ GroupChart: component }) => ({ default: component })))

const DifferenceView = lazy(() => import('./difference-view.tsx').then(({ DifferenceView: component }) => ({ default: component })))

type Props = { asking: Asking }

/** TabView is the events in the way that was chosen: one by one, or as patterns, groups or fields. */
export function TabView({ asking }: Props) {
  const views = {
    events: () => <EventsView asking={asking} />,
    patterns: () => <Patterns asking={asking} />,
    table: () => <Groups asking={asking} />,
    chart: () => <Groups asking={asking} />,
    fields: () => <Fields asking={asking} />,
    difference: () => <Difference asking={asking} />,
  }
  return views[asking.tab]()
}

/** Nothing stands in place of what is empty or not permitted, for the same reasons in every view. */
function Nothing({ asking: { asked, chosen, hasReceived, zone, change } }: Props) {
  return <NothingFound {...{ asked, zone, hasReceived }} question={chosen} isLive={false} onChange={change} />
}

function Patterns({ asking }: Props) {
  const { patterns, trends, earlier, against, chosen, zone, look, actions } = asking
  const before = against && earlier.patterns.data
  if (isNotPermitted(patterns.error)) return <NotPermitted failure={patterns.error} again={patterns.refetch} />
  return (
    <PatternList
      nothing={<Nothing asking={asking} />}
      patterns={patterns.data?.patterns}
      isCut={patterns.data?.cost.isExact === false}
      trends={trends.data?.trends}
      earlier={before && { patterns: before, name: earlierName(against, chosen.range) }}
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
  const { tab, groups, by, measure, fields, zone, actions, change, earlier, against, chosen } = asking
  const before = against && earlier.groups.data
  if (isNotPermitted(groups.error)) return <NotPermitted failure={groups.error} again={groups.refetch} />
  const group = {
    ...{ groups: groups.data, by, measure, zone, actions },
    nothing: <Nothing asking={asking} />,
    earlier: before && { groups: before, name: earlierName(against, chosen.range) },
    isOld: groups.isPlaceholderData,
    onOpen: (values: readonly string[]) =>
      change((now) => optional({ ...withQuery(now, groupClauses(by, values).reduce(withClause, now.q ?? '')), tab: undefined })),
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

function Fields({ asking }: Props) {
  const { fields, actions } = asking
  return (
    <FieldsView
      nothing={<Nothing asking={asking} />}
      fields={fields.data}
      isOld={fields.isPlaceholderData}
      failure={fields.error}
      actions={actions}
      again={fields.refetch}
    />
  )
}

function Difference({ asking: { asked, question, fields, zone, actions } }: Props) {
  const { sf, st } = asked
  return (
    <Suspense fallback={<p className="p-3 text-soft">Comparing the chosen stretch with the rest …</p>}>
      <DifferenceView
        question={question}
        stretch={sf === undefined || st === undefined ? undefined : { fromMs: sf, toMs: st }}
        fields={fields.data}
        failure={fields.error}
        zone={zone}
        actions={actions}
        again={fields.refetch}
      />
    </Suspense>
  )
}
