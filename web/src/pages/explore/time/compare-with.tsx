import { GitCompareArrows } from 'lucide-react'
import type { Range } from '../../../parts/time/time-range.ts'
import { Icon } from '../../../ui/icon.tsx'
import { type ChangeParams, optional } from '../explore-params.ts'
import { type Comparison, comparisonName, comparisons } from './compare.ts'

type CompareWithProps = { comparison: Comparison | undefined; range: Range; failure: unknown; change: ChangeParams }

/** Selects the period that the histogram, patterns, table and chart are compared with. */
export function CompareWith({ comparison, range, failure, change }: CompareWithProps) {
  return (
    <label className="relative flex items-center gap-1 max-sm:h-6.5 max-sm:px-2">
      <span className="max-sm:sr-only">Compare with</span>
      {/* On a phone the list opens from an icon, which it covers. */}
      <Icon of={GitCompareArrows} size="small" className={`pointer-events-none sm:hidden ${comparison ? 'text-accent' : ''}`} />
      <select
        className="h-6.5 rounded border border-line bg-panel px-1 text-ink max-sm:absolute max-sm:inset-0 max-sm:w-full max-sm:opacity-0"
        value={comparison ?? ''}
        onChange={(event) => {
          const next = comparisons.find((one) => one === event.target.value)
          change((now) => optional({ ...now, cmp: next }))
        }}
      >
        <option value="">Nothing</option>
        {comparisons.map((one) => (
          <option key={one} value={one}>
            {comparisonName(one, range)}
            {one === 'previous' ? ' (previous period)' : ''}
          </option>
        ))}
      </select>
      {comparison && failure ? (
        <span role="alert" className="text-error">
          Comparison failed: {failure instanceof Error ? failure.message : String(failure)}
        </span>
      ) : null}
    </label>
  )
}
