import type { Dashboard } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ChartShape } from '../../../parts/chart/data.ts'
import { measureText } from '../../../parts/query/metric-queries.ts'
import { useDashboardSearch } from '../../../parts/records/dashboard-list.ts'
import { MorePages } from '../../../parts/records/pages.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { rangeParamsOf } from '../../../parts/time/range-params.ts'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'
import { Popover } from '../../../ui/popover.tsx'
import type { ExploreQuery } from '../query/explore-query.ts'
import { quotedField } from './groups.ts'

type AddToDashboardProps = { query: ExploreQuery; by: readonly string[]; measures: readonly string[]; type: ChartShape | 'top-list' }

const NEW = 'New dashboard'

/** Keeps the shown chart or table as a widget of a dashboard: one click on its name, or on a new one. */
export function AddToDashboard({ query, by, measures, type }: AddToDashboardProps) {
  const client = useClient()
  const [isOpen, setOpen] = useState(false)
  const save = useSave(
    async (dashboard: Pick<Dashboard, 'id' | 'name'> | undefined) => {
      const { datasets, where } = query
      const source = datasets === undefined ? { from_expr: '*' } : { from: [...datasets] }
      const queries = measures.map((measure, at) => ({
        name: 'abcdef'[at] ?? 'g',
        select: [measure],
        where,
        groups: by.map(quotedField),
        ...source,
      }))
      const name = measureText(queries)
      const metric = await client.metricDefinitions.create({ body: { name, queries } })
      const widget = await client.widgets.create({ body: { name, type, metric_ids: [metric.id] } })
      if (!dashboard) return client.dashboards.create({ body: { name, widget_ids: [widget.id] } })
      await client.dashboards.addWidgets({ params: { dashboardId: dashboard.id }, body: { widget_ids: [widget.id] } })
      return dashboard
    },
    { stale: [['dashboards'], ['widgets'], ['metric definitions']] },
  )
  const added = save.data
  return (
    <Popover
      label="Add to dashboard"
      open={isOpen}
      onOpenChange={(next) => {
        setOpen(next)
        save.reset()
      }}
      trigger={
        <Button size="small" variant="quiet" className="ml-auto">
          Add to dashboard
        </Button>
      }
    >
      <div className="flex w-64 max-w-full flex-col gap-1 text-sm">
        {save.error ? <FailureNote thrown={save.error} isSmall /> : null}
        {added ? (
          <p role="status">
            Added.{' '}
            <Link to="/dashboards" search={{ id: added.id, ...rangeParamsOf(query.range) }} className="text-accent underline">
              Open {added.name}
            </Link>
          </p>
        ) : (
          <>
            <Button variant="quiet" className="justify-start" disabled={save.isPending} onClick={() => save.mutate(undefined)}>
              {NEW}
            </Button>
            <DashboardChoices isDisabled={save.isPending} onPick={save.mutate} />
          </>
        )}
      </div>
    </Popover>
  )
}

type DashboardChoicesProps = { isDisabled: boolean; onPick(dashboard: Dashboard): void }

/** The dashboards by name; a list of several pages has a search. */
function DashboardChoices({ isDisabled, onPick }: DashboardChoicesProps) {
  const [find, setFind] = useState('')
  const list = useDashboardSearch(find)
  return (
    <>
      {list.error ? <FailureNote thrown={list.error} again={() => list.refetch()} isSmall /> : null}
      {list.data && !list.isWhole && (
        <Input placeholder="Find a dashboard" aria-label="Find a dashboard" value={find} onChange={({ target }) => setFind(target.value)} />
      )}
      <div className="max-h-64 overflow-auto border-line border-t pt-1">
        <ul aria-label="Dashboards">
          {list.isLoading && <li className="px-2 text-soft">Loading…</li>}
          {list.records.map((one) => (
            <li key={one.id}>
              <Button variant="quiet" className="w-full justify-start" disabled={isDisabled} onClick={() => onPick(one)}>
                <span className="truncate">{one.name}</span>
              </Button>
            </li>
          ))}
          {list.data && find !== '' && list.records.length === 0 && <li className="px-2 text-soft">No dashboard matches.</li>}
        </ul>
        <MorePages of={list} />
      </div>
    </>
  )
}
