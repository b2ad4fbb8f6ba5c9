import type { Series } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { bytes, change, share } from '../../parts/chart/numbers.ts'
import { fullName, useDatasetsById } from '../../parts/datasets/datasets.ts'
import { useCallers } from '../../parts/shell/callers.ts'
import { rangeParamsOf } from '../../parts/time/range-params.ts'
import type { Range } from '../../parts/time/time-range.ts'
import type { UsageBefore } from './nested.ts'

const NONE: readonly string[] = []

/** Resolves ids of datasets and callers to names, or falls back to the id. */
export function useNames({ datasets = NONE, callers = NONE }: { datasets?: readonly string[]; callers?: readonly string[] }) {
  const { byId, nameOf } = useDatasetsById(datasets)
  const callerOf = useCallers(callers)
  return useMemo(
    () => ({
      hasDataset: (id: string) => byId.has(id),
      dataset: (id: string) => nameOf(id, fullName),
      caller: (id: string) => callerOf(id) ?? (id === '' ? 'the service itself' : `user or key ${id.slice(0, 8)}`),
    }),
    [byId, nameOf, callerOf],
  )
}

type SharesProps = {
  series: readonly Series[]
  /** The usage in the previous period; undefined while loading. */
  before: UsageBefore | undefined
  range: Range
  of: 'dataset' | 'user'
  /** The selected row. */
  chosen: string | undefined
}

/** Lists usage by dataset or user, largest first. */
export function Shares({ series, before, range, of, chosen }: SharesProps) {
  const isDataset = ({ key }: Series) => of === 'dataset' || key === 'log_id'
  const names = useNames({
    datasets: series.filter(isDataset).map(({ name }) => name),
    callers: series.filter((one) => !isDataset(one)).map(({ name }) => name),
  })
  const all = series.reduce((sum, { value }) => sum + value, 0)
  if (series.length === 0) return <p className="text-soft">No usage in this range.</p>
  return (
    <ol className="flex max-h-96 flex-col gap-0.5 overflow-auto">
      {series.map((one) => (
        <li key={one.name} className="relative flex shrink-0 items-center gap-2 overflow-hidden rounded px-1.5 py-0.5">
          <span
            aria-hidden
            className="absolute inset-y-0 left-0 rounded bg-tint"
            style={{ width: `${all === 0 ? 0 : (100 * one.value) / all}%` }}
          />
          <Link
            to="/usage"
            search={({ dataset: _dataset, user: _user, ...rest }) => (chosen === one.name ? rest : { ...rest, [of]: one.name })}
            className="relative min-w-0 truncate hover:underline aria-[current=true]:font-medium"
            aria-current={chosen === one.name ? 'true' : undefined}
          >
            {isDataset(one) ? names.dataset(one.name) : names.caller(one.name)}
          </Link>
          <span className="relative ml-auto shrink-0 text-xs tabular-nums">
            {bytes(one.value)} · {share(one.value, all)} <Against now={one.value} before={before?.(one.name)} />
          </span>
          {names.hasDataset(one.name) && (
            <Link
              to="/explore"
              search={{ d: [one.name], ...rangeParamsOf(range) }}
              className="relative shrink-0 text-accent text-xs hover:underline"
              aria-label={`Events of ${names.dataset(one.name)}`}
            >
              events
            </Link>
          )}
        </li>
      ))}
    </ol>
  )
}

/** Shows the change from the previous period. */
function Against({ now, before }: { now: number; before: number | undefined }) {
  if (before === undefined) return null
  if (before === 0) return <span title="none in the previous period">· new</span>
  return <span title={`${bytes(before)} in the previous period`}>· {change(now, before)}</span>
}
