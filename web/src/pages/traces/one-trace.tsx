import { durationText } from '@dendro/language/nanoseconds'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { quantity } from '../../parts/chart/numbers.ts'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Page } from '../../parts/shell/page.tsx'
import { clockOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { listParams, type TraceParams } from './params.ts'
import { TraceView } from './trace-view.tsx'

/** A trace is read again while parents are missing, for a few minutes after its start. */
const LATE_MS = 300_000
const AGAIN_MS = 5_000

const GONE = 'No span or event has this trace id. They may be older than their retention, or not sent yet.'

type OneTraceProps = { id: string; params: TraceParams; onChange(by: Partial<TraceParams>): void }

/** The page of the trace of the address. */
export function OneTrace({ id, params, onChange }: OneTraceProps) {
  const client = useClient()
  const [zone] = useZone()
  const trace = useQuery({
    queryKey: ['trace', id, params.at],
    queryFn: ({ signal }) =>
      client.traces.get({ params: { traceId: id }, query: params.at === undefined ? {} : { timestamp: params.at }, signal }),
    refetchInterval: ({ state: { data } }) =>
      data && data.missing_spans.length > 0 && Date.now() - data.start_time < LATE_MS ? AGAIN_MS : false,
  })
  const { data } = trace
  const back = (
    <Link to="/traces" search={listParams(params)}>
      All traces
    </Link>
  )
  if (!data) return <MissingRecord title="Trace" noun="trace" of={trace} back={back} reason={GONE} />
  const root = data.root === undefined ? undefined : data.spans[data.root]
  const title = root ? `${root.service} ${root.name}` : 'Trace'
  return (
    <Page title={title} back={back}>
      {trace.error && <FailureNote thrown={trace.error} again={() => trace.refetch()} />}
      <p className="flex flex-wrap gap-x-4 text-soft text-sm">
        <span className="font-mono">{data.trace_id}</span>
        <span className="tabular-nums">{Object.values(clockOf(data.start_time, zone)).join(' ')}</span>
        <span>{durationText(data.duration_nano)}</span>
        <span>{quantity(data.spans_total, 'span')}</span>
        <span>{quantity(data.services.length, 'service')}</span>
        <span>{quantity(data.logs_total, 'log event')}</span>
        {data.errors_total > 0 && <span className="text-error">{quantity(data.errors_total, 'failed span')}</span>}
      </p>
      {!data.is_exact && <p className="text-warn">Not all spans and log events are shown; the numbers above count all.</p>}
      {data.missing_spans.length > 0 && (
        <p className="text-warn">
          {quantity(data.missing_spans.length, 'parent span')} missing: not sent, not yet, or not to this service.
        </p>
      )}
      <TraceView trace={data} params={params} onChange={onChange} />
    </Page>
  )
}
