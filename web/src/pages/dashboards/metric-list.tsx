import type { MetricDefinition } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ago } from '../../parts/chart/numbers.ts'
import { QueryText } from '../../parts/datasets/pattern-texts.tsx'
import { measureText } from '../../parts/query/metric-queries.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { FilteredList } from '../../parts/records/filtered-list.tsx'
import { RecordList } from '../../parts/records/records.tsx'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { useAllWidgets, useMetricMonitors, useMetrics } from './queries.ts'

const nameOf = ({ name, queries }: MetricDefinition): string => name ?? measureText(queries)

/** Lists the named metrics with the widgets and monitors that use them. */
export function MetricList() {
  const metrics = useMetrics()
  const widgets = useAllWidgets(true)
  const monitors = useMetricMonitors()
  const usersOf = (id: string) => [
    ...(widgets.data ?? []).filter(({ metric_ids }) => metric_ids.includes(id)).map(({ name }) => name),
    ...(monitors.data ?? []).filter(({ metric_id }) => metric_id === id).map(({ name }) => `the monitor ${name}`),
  ]
  return (
    <Page
      title="Metrics"
      back={<BackToDashboards />}
      actions={
        <Permitted to="dashboards_write">
          <Link to="/dashboards" search={{ view: 'metrics', metric: 'new' }} className={buttonClass({ variant: 'main' })}>
            New metric
          </Link>
        </Permitted>
      }
    >
      <FilteredList
        noun="metric"
        of={metrics}
        textOf={(one) => `${nameOf(one)} ${one.description ?? ''} ${measureText(one.queries)}`}
        none={
          <EmptyState title="No metrics yet">
            <p className="text-soft">A metric is a named query that several widgets can show.</p>
            <Permitted to="dashboards_write">
              <Link to="/dashboards" search={{ view: 'metrics', metric: 'new' }} className={buttonClass({ variant: 'main' })}>
                Create the first metric
              </Link>
            </Permitted>
          </EmptyState>
        }
      >
        {(found) => (
          <RecordList label="Metrics">
            {found.map((metric) => (
              <Row key={metric.id} metric={metric} users={usersOf(metric.id)} />
            ))}
          </RecordList>
        )}
      </FilteredList>
    </Page>
  )
}

const NAMED_MAX = 4

function Row({ metric, users }: { metric: MetricDefinition; users: readonly string[] }) {
  const client = useClient()
  const queries = useQueryClient()
  const { id, description, formulas, template, metadata } = metric
  const remove = async () => {
    await client.metricDefinitions.remove({ params: { metricId: id } })
    await queries.invalidateQueries({ queryKey: ['metric definitions'] })
  }
  const more = users.length > NAMED_MAX ? ` and ${users.length - NAMED_MAX} more` : ''
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-64">
        <Link to="/dashboards" search={{ view: 'metrics', metric: id }} className="break-words font-medium hover:underline">
          <QueryText text={nameOf(metric)} />
        </Link>
        {description && <p className="break-words text-soft text-xs">{description}</p>}
        <p className="break-words font-mono text-xs">
          <QueryText text={[measureText(metric.queries), formulas?.[0]?.expression].filter(Boolean).join(' · ')} />
        </p>
        <p className="break-words text-soft text-xs">
          {users.length === 0 ? 'not used' : `used by ${users.slice(0, NAMED_MAX).join(', ')}${more}`} · changed{' '}
          {ago(metadata.modified_at ?? metadata.created_at ?? 0, Date.now())}
          {template && ' · from a template'}
        </p>
      </div>
      <Confirm
        needs="dashboards_delete"
        action="Delete"
        size="small"
        label={`Delete ${nameOf(metric)}`}
        message={`Delete “${nameOf(metric)}”?`}
        onYes={remove}
      />
    </li>
  )
}
