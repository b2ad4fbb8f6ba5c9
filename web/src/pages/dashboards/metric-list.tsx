import type { MetricDefinition } from '@dendro/api'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { QueryText } from '../../parts/datasets/pattern-texts.tsx'
import { measureText } from '../../parts/query/metric-queries.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { metricName, useMetricSearch } from '../../parts/records/metric-list.ts'
import { RecordList } from '../../parts/records/records.tsx'
import { SearchedList } from '../../parts/records/searched-list.tsx'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { useMetricUses } from './uses.ts'

/** Lists the metrics by name, page by page, with the widgets and monitors that use them. */
export function MetricList() {
  const [find, setFind] = useState('')
  const metrics = useMetricSearch(find)
  const idsByPage = useMemo(() => metrics.pages.map((page) => page.map(({ id }) => id)), [metrics.pages])
  const uses = useMetricUses(idsByPage)
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
      {uses.error && <p className="text-error text-xs">The widgets and monitors that use the metrics are unavailable.</p>}
      <SearchedList
        noun="metric"
        of={metrics}
        find={find}
        onFind={setFind}
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
              <Row key={metric.id} metric={metric} uses={uses.of(metric.id)} />
            ))}
          </RecordList>
        )}
      </SearchedList>
    </Page>
  )
}

function Row({ metric, uses }: { metric: MetricDefinition; uses: string | undefined }) {
  const client = useClient()
  const queries = useQueryClient()
  const { id, description, formulas, template, metadata } = metric
  const remove = async () => {
    await client.metricDefinitions.remove({ params: { metricId: id } })
    await queries.invalidateQueries({ queryKey: ['metric definitions'] })
  }
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-64">
        <Link to="/dashboards" search={{ view: 'metrics', metric: id }} className="break-words font-medium hover:underline">
          <QueryText text={metricName(metric)} />
        </Link>
        {description && <p className="break-words text-soft text-xs">{description}</p>}
        <p className="break-words font-mono text-xs">
          <QueryText text={[measureText(metric.queries), formulas?.[0]?.expression].filter(Boolean).join(' · ')} />
        </p>
        <p className="break-words text-soft text-xs">
          {uses !== undefined && `${uses} · `}changed {ago(metadata.modified_at ?? metadata.created_at ?? 0, Date.now())}
          {template && ' · from a template'}
        </p>
      </div>
      <Confirm
        needs="dashboards_delete"
        action="Delete"
        size="small"
        label={`Delete ${metricName(metric)}`}
        message={`Delete “${metricName(metric)}”?`}
        onYes={remove}
      />
    </li>
  )
}
