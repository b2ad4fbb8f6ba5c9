import type { Range } from '../../../parts/time-range.ts'
import { type ChangeParams, optional } from '../explore-params.ts'
import { type Comparison, comparisonName, comparisons } from './compare.ts'

type CompareWithProps = { comparison: Comparison | undefined; range: Range; failure: unknown; change: ChangeParams }

/** CompareWith selects the period that the histogram, patterns, table and chart are compared with. */
export function CompareWith({ comparison, range, failure, change }: CompareWithProps) {
  return (
    <label className="flex items-center gap-1">
      <span>Compare with</span>
      <select
        className="h-6.5 rounded border border-line bg-panel px-1 text-ink max-sm:w-28"
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
