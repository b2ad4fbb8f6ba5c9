import type { ReactNode } from 'react'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { Forbidden, isForbidden } from '../events/list/empty-result.tsx'
import { optional, withQuery, withRange } from '../explore-params.ts'
import type { ExploreState } from '../explore-state.ts'
import { withClause } from '../query/clauses.ts'
import { OldResult } from '../query/old-result.tsx'
import { comparisonName } from '../time/compare.ts'
import { AddToDashboard } from './add-to-dashboard.tsx'
import { GroupBar } from './group-bar.tsx'
import { GroupChart } from './group-chart.tsx'
import { groupClauses } from './group-order.ts'
import { GroupTable } from './group-table.tsx'
import { addUp, COUNT } from './measures.ts'
import { ShapePicker } from './shape-picker.tsx'

type GroupsViewProps = { state: ExploreState; emptyView: ReactNode }

/** Groups as a table or a chart, and the bar that sets them. */
export function GroupsView({ state, emptyView }: GroupsViewProps) {
  const { params, tab, groups, by, measure, measures, allFields, zone, actions, change, earlier, comparison, query, selectedQuery } = state
  const before = comparison && earlier.groups.data
  if (isForbidden(groups.error)) return <Forbidden failure={groups.error} onRetry={groups.refetch} />
  const shape = addUp(measures) ? (params.as ?? 'line') : 'line'
  const group = {
    ...{ groups: groups.data, by, measure, zone, actions, emptyView },
    earlier: before && { groups: before, name: comparisonName(comparison, selectedQuery.range) },
    isStale: groups.isPlaceholderData,
    onOpen: (values: readonly string[]) =>
      change((now) => optional({ ...withQuery(now, groupClauses(by, values).reduce(withClause, now.q ?? '')), tab: undefined })),
    failure: groups.error,
    onRetry: groups.refetch,
  }
  return (
    <>
      <GroupBar
        by={by}
        measures={measures}
        fields={allFields.data?.fields ?? []}
        onGroup={(next) => change((now) => optional({ ...now, by: next }))}
        onMeasure={(next) => change((now) => optional({ ...now, fn: next === COUNT ? undefined : next }))}
        tools={
          <>
            {tab === 'chart' && (
              <ShapePicker
                shape={shape}
                canStack={addUp(measures)}
                onPick={(next) => change((now) => optional({ ...now, as: next === 'line' ? undefined : next }))}
              />
            )}
            <Permitted to="dashboards_write">
              <AddToDashboard query={query} by={by} measures={measures} type={tab === 'chart' ? shape : 'top-list'} />
            </Permitted>
          </>
        }
      />
      <OldResult of={groups} noun="values" zone={zone}>
        {tab === 'table' ? (
          <GroupTable {...group} />
        ) : (
          <GroupChart
            {...group}
            shape={shape}
            onPick={(sf, st) => change((now) => optional({ ...now, tab: undefined, sf, st }))}
            onRange={(fromMs, toMs) => change((now) => withRange(now, { fromMs, toMs }))}
            onChanges={(sf, st) => change((now) => ({ ...now, tab: 'changes', sf, st }))}
          />
        )}
      </OldResult>
    </>
  )
}
