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
import { HOUR, type OperationOrder, operationOrders, type TraceParams } from './params.ts'
import { ViewLinks } from './view-links.tsx'

type Operation = OperationList['operations'][number]

const SHOWN = 100
const names: Record<OperationOrder, string> = { busiest: 'Busiest', slowest: 'Slowest', failing: 'Failing' }

/** Lists services and their operations: how often, how slow, how many failures. */
export function OperationsPage({ params }: { params: TraceParams }) {
  const client = useClient()
  const navigate = useNavigate()
  const [zone, setZone] = useZone()
  const range = rangeOf(params, HOUR)
  const order = params.rank ?? 'busiest'
  const query = { ...timeRangeOf(range), order, limit: SHOWN, ...(params.service ? { service: params.service } : {}) }
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
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <ViewLinks params={params} />
        <fieldset aria-label="Order" className="flex gap-1">
          {operationOrders.map((one) => (
            <Button
              key={one}
              variant={one === order ? 'chosen' : 'quiet'}
              aria-pressed={one === order}
              onClick={() => change({ rank: one === 'busiest' ? undefined : one })}
            >
              {names[one]}
            </Button>
          ))}
        </fieldset>
        {params.service !== undefined && (
          <span className="flex items-center gap-2">
            <span className="text-soft">Only</span> {params.service}
            <Button size="small" onClick={() => change({ service: undefined })}>
              All services
            </Button>
          </span>
        )}
      </div>
      <Loaded of={found}>
        {({ operations, operations_total }) =>
          operations.length === 0 ? (
            <EmptyState title={order === 'failing' ? 'Nothing failed in this range' : 'No spans in this range'} />
          ) : (
            <div className={found.isPlaceholderData ? 'opacity-50' : ''}>
              <OperationRows operations={operations} params={params} />
              {operations_total > operations.length && (
                <TruncationNote>
                  {operations.length} of {count(operations_total)} operations; select a service for others.
                </TruncationNote>
              )}
              <TruncationNote>Percentiles are estimates.</TruncationNote>
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}

const columns = ['Service', 'Operation', 'Spans', 'Per second', 'Failed', 'p50', 'p95', 'p99', 'Longest'] as const
const cell = 'px-3 py-1.5 max-sm:py-0.5'
const narrow =
  'max-sm:grid max-sm:grid-cols-[6.5rem_minmax(0,1fr)] max-sm:before:text-soft max-sm:before:text-xs max-sm:before:content-[attr(data-column)]'

function OperationRows({ operations, params }: { operations: readonly Operation[]; params: TraceParams }) {
  const slowest = operations.reduce((most, { p95_nano = 0 }) => Math.max(most, p95_nano), 1)
  return (
    <section aria-label="Operations table" className="rounded-md border border-line bg-panel">
      <table className="w-full max-sm:block">
        <thead className="text-left text-soft text-xs max-sm:sr-only">
          <tr>
            {columns.map((name, at) => (
              <th key={name} className={`whitespace-nowrap px-3 py-2 font-medium ${at > 1 ? 'text-right' : ''}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {operations.map((one) => (
            <OperationRow key={`${one.service} ${one.operation}`} one={one} params={params} slowest={slowest} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function OperationRow({ one, params: { r, f, t }, slowest }: { one: Operation; params: TraceParams; slowest: number }) {
  const { service, operation, spans, per_second, errors, p50_nano, p95_nano, p99_nano, max_nano } = one
  const range = { ...(r === undefined ? {} : { r }), ...(f === undefined || t === undefined ? {} : { f, t }) }
  const traces = { ...range, service, op: operation, any: true }
  const length = (nanos: number | undefined) => (nanos === undefined ? '' : durationText(nanos))
  const numbers = [count(spans), per_second < 0.01 ? '< 0.01' : count(Number(per_second.toPrecision(3)))]
  return (
    <tr className="border-line border-t align-baseline hover:bg-tint max-sm:block max-sm:py-1.5">
      <td className={`${cell} wrap-anywhere max-sm:block`}>
        <Link to="/traces" search={{ ...range, ops: true, service }} className="text-soft hover:underline">
          {service === '' ? 'no service' : service}
        </Link>
      </td>
      <td className={`${cell} w-1/3 wrap-anywhere max-sm:block max-sm:w-auto`}>
        <Link to="/traces" search={traces} className="text-accent hover:underline">
          {operation === '' ? 'no name' : operation}
        </Link>
      </td>
      {numbers.map((text, at) => (
        <td key={columns[at + 2]} data-column={columns[at + 2]} className={`${cell} ${narrow} text-right tabular-nums max-sm:text-left`}>
          {text}
        </td>
      ))}
      <td data-column="Failed" className={`${cell} ${narrow} text-right tabular-nums max-sm:text-left`}>
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
          className={`${cell} ${narrow} whitespace-nowrap text-right tabular-nums max-sm:text-left`}
        >
          <span>
            {length(nanos)}
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
