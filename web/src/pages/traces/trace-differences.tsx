import type { Finding, FindingName } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { count, quantity } from '../../parts/chart/numbers.ts'
import { bothConditions } from '../../parts/query/condition.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { type Range, timeRangeOf } from '../../parts/time/time-range.ts'
import { Button } from '../../ui/button.tsx'
import type { TraceParams } from './params.ts'
import { conditionsOf } from './trace-query.ts'

type TraceDifferencesProps = { params: TraceParams; range: Range; onChange(by: Partial<TraceParams>): void }

/** What the spans of the selected traces have more often than those of the others. A value becomes a condition on any span. */
export function TraceDifferences({ params, range, onChange }: TraceDifferencesProps) {
  const client = useClient()
  const query = { ...timeRangeOf(range), ...conditionsOf(params) }
  const found = useQuery({
    queryKey: ['trace differences', query],
    queryFn: ({ signal }) => client.traces.differences({ query, signal }),
    placeholderData: keepPreviousData,
  })
  const narrow = (where: string) => onChange({ q: bothConditions(params.q ?? '', where), any: true })
  return (
    <Panel
      title="What changed"
      actions={
        <Button size="small" onClick={() => onChange({ diff: undefined })}>
          Close
        </Button>
      }
    >
      <Loaded of={found}>
        {({ traces, other_traces, findings, summary, is_exact, is_sampled }) => (
          <div aria-busy={found.isPlaceholderData}>
            <p className="px-3 pt-3 text-soft text-sm">
              {quantity(traces, 'selected trace')}, compared with {count(other_traces)} others, by the values of all their spans.
            </p>
            {findings.length === 0 ? (
              <p className="p-3 text-sm">{summary}</p>
            ) : (
              <ol className="mt-2 divide-y divide-line border-line border-t">
                {findings.map((finding) => (
                  <FindingRow key={finding.where} finding={finding} onPick={narrow} />
                ))}
              </ol>
            )}
            {is_sampled && <TruncationNote>Only a share of some traces is stored; all numbers are of stored ones.</TruncationNote>}
            {!is_exact && (
              <TruncationNote>There are more traces; those compared are the newest of each quarter of the range.</TruncationNote>
            )}
          </div>
        )}
      </Loaded>
    </Panel>
  )
}

const NAMES_SHOWN = 6

type FindingRowProps = { finding: Finding; onPick(where: string): void }

function FindingRow({ finding: { names, shared, text }, onPick }: FindingRowProps) {
  const hidden = names.length - NAMES_SHOWN
  return (
    <li className="flex flex-col gap-1 px-3 py-2 hover:bg-tint/50">
      <span className="flex flex-wrap items-center gap-1.5">
        {shared?.names.map((name) => (
          <NameButton key={name.where} name={name} className="bg-sunk font-semibold text-sm" onPick={onPick} />
        ))}
        {names.slice(0, NAMES_SHOWN).map((name, at) => (
          <NameButton
            key={name.where}
            name={name}
            className={at === 0 ? 'font-medium text-sm' : 'border border-line text-soft text-xs'}
            onPick={onPick}
          />
        ))}
        {hidden > 0 && <span className="text-soft text-xs">and {hidden} more</span>}
      </span>
      <p className="wrap-anywhere text-soft text-xs">{text}</p>
    </li>
  )
}

type NameButtonProps = { name: FindingName; className: string; onPick(where: string): void }

const NameButton = ({ name, className, onPick }: NameButtonProps) => (
  <button
    type="button"
    aria-label={`Filter by ${name.label}`}
    title={`Show the traces with a span with ${name.where}`}
    className={`max-w-full truncate rounded px-1 text-left font-mono hover:bg-tint hover:underline ${className}`}
    onClick={() => onPick(name.where)}
  >
    {name.label}
  </button>
)
