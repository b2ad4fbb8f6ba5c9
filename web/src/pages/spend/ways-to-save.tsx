import type { SpendPrice, SpendSaving } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { money } from '../../parts/chart/money.ts'
import { bytes } from '../../parts/chart/numbers.ts'
import { usePatternTexts } from '../../parts/datasets/pattern-texts.tsx'
import { RecordList } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../parts/shell/page.tsx'
import { buttonClass } from '../../ui/button.tsx'

const GB = 1_000_000_000

/** The ways that save most of the last 30 days, each with a link to the rule or the retention that does it. */
export function WaysToSave() {
  const client = useClient()
  const found = useQuery({ queryKey: ['spend', 'savings'], queryFn: ({ signal }) => client.spend.savings({ query: {}, signal }) })
  const savings = found.data?.savings ?? []
  const ids = savings.flatMap(({ pattern }) => pattern ?? [])
  const texts = usePatternTexts(ids.length === 0 ? '' : `@pattern IN (${ids.map((id) => `'${id}'`).join(', ')})`)
  return (
    <Panel title="Ways to save">
      {found.error ? <FailureNote thrown={found.error} again={() => found.refetch()} /> : null}
      {found.data === undefined && !found.error && <Loading />}
      {found.data !== undefined && savings.length === 0 && (
        <p className="p-3 text-soft">Nothing stands out in the last 30 days: no large pattern or field, and no data that nobody reads.</p>
      )}
      {savings.length > 0 && (
        <RecordList label="Ways to save">
          {savings.map((saving) => (
            <Way
              key={`${saving.kind} ${saving.log_id} ${saving.pattern ?? saving.field}`}
              saving={saving}
              text={saving.pattern === undefined ? undefined : texts.get(saving.pattern)}
              price={found.data?.price}
            />
          ))}
        </RecordList>
      )}
    </Panel>
  )
}

function Way({ saving, text, price }: { saving: SpendSaving; text: string | undefined; price: SpendPrice | undefined }) {
  const { reason, dataset, bytes_saved, gb_days_saved, cost_saved } = saving
  const kept = Number(bytes_saved) === 0 ? `${bytes(gb_days_saved * GB)} kept for a day less` : `${bytes(Number(bytes_saved))} less`
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere font-medium">
          {titleOf(saving, text)} <span className="font-normal text-soft">in {dataset}</span>
        </p>
        <p className="text-soft">{reason}</p>
        <p className="tabular-nums">
          {price && cost_saved !== undefined ? `${money(cost_saved, price.currency)}, ` : ''}
          {kept} in 30 days
        </p>
      </div>
      <WayLink saving={saving} />
    </li>
  )
}

function titleOf({ kind, field }: SpendSaving, text: string | undefined): string {
  switch (kind) {
    case 'SAMPLE_PATTERN':
      return `Keep one of ten: ${text ?? 'lines of one pattern'}`
    case 'REMOVE_FIELD':
      return `Remove the field ${field}`
    case 'DROP_DEBUG':
      return 'Drop debug events'
    case 'SHORTEN_RETENTION':
      return 'Keep for 30 days'
  }
}

function WayLink({ saving: { rule, log_id } }: { saving: SpendSaving }) {
  const className = `${buttonClass({ size: 'small' })} max-sm:basis-full`
  return rule ? (
    <Link to="/data" search={{ rules: true, draft: rule }} className={className}>
      Create the rule
    </Link>
  ) : (
    <Link to="/data" search={{ id: log_id, part: 'care' }} className={className}>
      Shorten the retention
    </Link>
  )
}
