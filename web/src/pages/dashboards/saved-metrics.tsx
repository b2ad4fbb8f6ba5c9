import type { MetricDefinition } from '@dendro/api'
import { useState } from 'react'
import { metricName, useMetricSearch } from '../../parts/records/metric-list.ts'
import { MorePages } from '../../parts/records/pages.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Input } from '../../ui/field.tsx'

type SavedMetricsProps = {
  /** The metrics of the widget as it is stored, in order. */
  known: readonly MetricDefinition[]
  kept: readonly string[]
  onPickMetrics(kept: string[]): void
}

/** Selects metrics, which are found by a search, after those that are selected and not among them. */
export function SavedMetrics({ known, kept, onPickMetrics }: SavedMetricsProps) {
  const [find, setFind] = useState('')
  const found = useMetricSearch(find)
  // What is deselected stays in view.
  const [seen, setSeen] = useState(known)
  const listed = new Set(found.records.map(({ id }) => id))
  const others = found.isWhole ? [] : seen.filter(({ id }) => !listed.has(id))
  const toggle = (metric: MetricDefinition) => {
    if (!seen.some(({ id }) => id === metric.id)) setSeen([...seen, metric])
    onPickMetrics(kept.includes(metric.id) ? kept.filter((id) => id !== metric.id) : [...kept, metric.id])
  }
  return (
    <div className="flex flex-col gap-2">
      <Input
        className="sm:max-w-64"
        placeholder="Find a metric"
        aria-label="Find a metric"
        value={find}
        onChange={({ target }) => setFind(target.value)}
      />
      {found.error && <FailureNote thrown={found.error} again={() => found.refetch()} isSmall />}
      <div className="max-h-80 overflow-auto">
        <ul aria-label="Saved metrics" aria-busy={found.isPlaceholderData}>
          {[...others, ...found.records].map((metric) => (
            <li key={metric.id}>
              <label className="flex items-center gap-2 py-0.5">
                <input type="checkbox" checked={kept.includes(metric.id)} onChange={() => toggle(metric)} />
                <span className="truncate">{metricName(metric)}</span>
              </label>
            </li>
          ))}
          {found.isLoading && <li className="text-soft">Loading…</li>}
          {found.data && found.records.length === 0 && (
            <li className="text-soft">{find.trim() === '' ? 'No metrics yet.' : 'No metric matches.'}</li>
          )}
        </ul>
        <MorePages of={found} />
      </div>
    </div>
  )
}
