import type { OperationList } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { count, share } from '../../parts/chart/numbers.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import { timeRangeOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { NoSpans } from './no-spans.tsx'
import { HOUR, linkRange, type OperationOrder, operationOrders, type TraceParams } from './params.ts'
import { ServiceChartPanels } from './service-charts.tsx'
import { operationWhere } from './service-series.ts'
import { cell, nameCell, narrowCell, rateText, StatHead, statRow } from './stat-cells.tsx'
import { ViewLinks } from './view-links.tsx'

type Operation = OperationList['operations'][number]

const SHOWN = 100
const names: Record<OperationOrder, string> = { busiest: 'Busiest', slowest: 'Slowest', failing: 'Failing' }

type NoOperationsProps = { isFailing: boolean; isNarrow: boolean; onAny(): void; onAll(): void }

/** Replaces an empty list of operations. That nothing failed is good news, and no reason to send spans. */
const NoOperations = ({ isFailing, isNarrow, onAny, onAll }: NoOperationsProps) =>
  isFailing ? (
    <EmptyState title="Nothing failed in this range">
      <Button onClick={onAny}>Busiest operations</Button>
    </EmptyState>
  ) : isNarrow ? (
    <EmptyState title="No spans of this service in this range">
      <Button onClick={onAll}>All services</Button>
    </EmptyState>
  ) : (
    <NoSpans />
  )

/** Lists services and their operations: how often, how slow, how many failures. */
export function OperationsPage({ params }: { params: TraceParams }) {
  const client = useClient()
  const navigate = useNavigate()
  const [zone, setZone] = useZone()
  const range = rangeOf(params, HOUR)
  const order = params.rank ?? 'busiest'
  const query = {
    ...timeRangeOf(range),
    order,
    limit: SHOWN,
    ...(params.service ? { service: params.service } : {}),
    ...(params.op ? { where: operationWhere(params.op) } : {}),
  }
  const found = useQuery({
    queryKey: ['operations', query],
    queryFn: ({ signal }) => client.traces.operations({ query, signal }),
    placeholderData: keepPreviousData,
  })
  const change = (by: Partial<TraceParams>) => void navigate({ to: '/traces', search: { ...params, ...by } })
  return (
    <Page
      title="Operations"
      actions={
        <TimePicker
          range={range}
          zone={zone}
          onPick={(next) => change({ r: undefined, f: undefined, t: undefined, ...rangeParamsOf(next) })}
          onZone={setZone}
        />
      }
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ViewLinks params={params} />
        <Choices
          label="Order"
          options={operationOrders.map((one) => [one, names[one]] as const)}
          value={order}
          onPick={(one) => change({ rank: one === 'busiest' ? undefined : one })}
        />
        {params.service !== undefined && (
          <span className="flex items-center gap-2">
            <span className="text-soft">Only</span> {params.service} {params.op}
            {params.op !== undefined && (
              <Button size="small" onClick={() => change({ op: undefined })}>
                All operations
              </Button>
            )}
            <Button size="small" onClick={() => change({ service: undefined, op: undefined })}>
              All services
            </Button>
          </span>
        )}
      </div>
      {params.service !== undefined && <ServiceChartPanels service={params.service} operation={params.op} range={range} />}
      <Loaded of={found}>
        {({ operations, operations_total, is_exact }) =>
          operations.length === 0 ? (
            <NoOperations
              isFailing={order === 'failing'}
              isNarrow={params.service !== undefined}
              onAny={() => change({ rank: undefined })}
              onAll={() => change({ service: undefined, op: undefined })}
            />
          ) : (
            <div aria-busy={found.isPlaceholderData}>
              <OperationRows operations={operations} params={params} />
              {operations_total > operations.length && (
                <TruncationNote>
                  {operations.length} of {count(operations_total)} operations; select a service for others.
                </TruncationNote>
              )}
              {!is_exact && (
                <TruncationNote>
                  Some numbers are estimates: percentiles where there are too many spans to sort, numbers of spans where only a share is
                  stored. A shorter time has exact percentiles.
                </TruncationNote>
              )}
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}

const columns = ['Service', 'Operation', 'Spans', 'Per second', 'Failed', 'p50', 'p95', 'p99', 'Longest'] as const

function OperationRows({ operations, params }: { operations: readonly Operation[]; params: TraceParams }) {
  const slowest = operations.reduce((most, { p95_nano = 0 }) => Math.max(most, p95_nano), 1)
  return (
    <section aria-label="Operations table" className="rounded-md border border-line bg-panel">
      <table aria-label="Operations" className="w-full max-sm:block">
        <StatHead columns={columns} />
        <tbody className="max-sm:block">
          {operations.map((one) => (
            <OperationRow key={`${one.service} ${one.operation}`} one={one} params={params} slowest={slowest} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function OperationRow({ one, params, slowest }: { one: Operation; params: TraceParams; slowest: number }) {
  const { service, operation, spans, per_second, errors, p50_nano, p95_nano, p99_nano, max_nano } = one
  const range = linkRange(params)
  const traces = { ...range, service, op: operation, any: true }
  const length = (nanos: number | undefined) => (nanos === undefined ? '' : durationText(nanos))
  const numbers = [count(spans), rateText(per_second)]
  return (
    <tr className={statRow}>
      <td className={`${cell} ${nameCell}`}>
        <Link to="/traces" search={{ ...range, ops: true, service }} className="text-soft hover:underline">
          {service === '' ? 'no service' : service}
        </Link>
      </td>
      <td className={`${cell} ${nameCell} w-1/3 max-sm:w-auto`}>
        <Link to="/traces" search={traces} className="text-accent hover:underline">
          {operation === '' ? 'no name' : operation}
        </Link>
      </td>
      {numbers.map((text, at) => (
        <td
          key={columns[at + 2]}
          data-column={columns[at + 2]}
          className={`${cell} ${narrowCell} text-right tabular-nums max-sm:text-left`}
        >
          {text}
        </td>
      ))}
      <td data-column="Failed" className={`${cell} ${narrowCell} text-right tabular-nums max-sm:text-left`}>
        {errors === 0 ? (
          '0'
        ) : (
          <Link to="/traces" search={{ ...traces, status: 'error' }} className="whitespace-nowrap text-error hover:underline">
            {count(errors)} ({share(errors, spans)})
          </Link>
        )}
      </td>
      {[p50_nano, p95_nano, p99_nano, max_nano].map((nanos, at) => (
        <td
          key={columns[at + 5]}
          data-column={columns[at + 5]}
          className={`${cell} ${narrowCell} whitespace-nowrap text-right tabular-nums max-sm:text-left`}
        >
          <span>
            {at === 1 ? (
              <Link to="/traces" search={{ ...range, ops: true, service, op: operation }} title="Over time" className="hover:underline">
                {length(nanos)}
              </Link>
            ) : (
              length(nanos)
            )}
            {at === 1 && (
              <span
                aria-hidden
                className="ml-auto block h-0.5 bg-bar-info max-sm:ml-0"
                style={{ width: `${(100 * (nanos ?? 0)) / slowest}%` }}
              />
            )}
          </span>
        </td>
      ))}
    </tr>
  )
}
