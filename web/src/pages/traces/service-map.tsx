import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { count } from '../../parts/chart/numbers.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { Loaded } from '../../parts/records/records.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Page } from '../../parts/shell/page.tsx'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import { timeRangeOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { useMatches } from '../../ui/matches.ts'
import { CallRows } from './call-rows.tsx'
import { MapDrawing } from './map-drawing.tsx'
import { NoSpans } from './no-spans.tsx'
import { HOUR, type TraceParams } from './params.ts'
import { serviceGraph } from './service-graph.ts'
import { ViewLinks } from './view-links.tsx'

const SHOWN = 200
const NARROW = '(max-width: 640px)'

/** Shows which services call which: as a map, and as a table of calls. */
export function ServiceMapPage({ params }: { params: TraceParams }) {
  const client = useClient()
  const navigate = useNavigate()
  const [zone, setZone] = useZone()
  const range = rangeOf(params, HOUR)
  const { service } = params
  const query = { ...timeRangeOf(range), limit: SHOWN, ...(service === undefined ? {} : { service }) }
  const found = useQuery({
    queryKey: ['calls', query],
    queryFn: ({ signal }) => client.traces.calls({ query, signal }),
    placeholderData: keepPreviousData,
  })
  const direction = useMatches(NARROW) ? 'down' : 'right'
  const graph = useMemo(() => found.data && serviceGraph(found.data, { only: service, direction }), [found.data, service, direction])
  const change = (by: Partial<TraceParams>) => void navigate({ to: '/traces', search: { ...params, ...by } })
  return (
    <Page
      title="Service map"
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
        {service !== undefined && (
          <span className="flex items-center gap-2">
            <span className="text-soft">Around</span> {service}
            <Button size="small" onClick={() => change({ service: undefined })}>
              All services
            </Button>
          </span>
        )}
      </div>
      <Loaded of={found}>
        {({ calls, calls_total, spans_total, spans_read, is_exact }) =>
          spans_total === 0 ? (
            <NoSpans />
          ) : (
            <div className="flex flex-col gap-3" aria-busy={found.isPlaceholderData}>
              {graph && <MapDrawing graph={graph} selected={service} onSelect={(name) => change({ service: name })} />}
              {calls.length === 0 ? (
                <p className="text-soft">No calls between services: no span has a parent of another service, and none names a peer.</p>
              ) : (
                <CallRows calls={calls} params={params} />
              )}
              {calls_total > calls.length && (
                <TruncationNote>
                  {calls.length} of {count(calls_total)} pairs of services; select a service for others.
                </TruncationNote>
              )}
              {!is_exact && (
                <TruncationNote>
                  {spans_read < spans_total
                    ? `Numbers of calls are estimates from ${count(spans_read)} of ${count(spans_total)} spans, in whole traces. Rare calls may be missing.`
                    : 'Numbers are estimates, since only a part of the traces is stored. Rare calls may be missing.'}
                </TruncationNote>
              )}
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}
