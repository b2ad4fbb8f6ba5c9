import type { TraceList as Found } from '@dendro/api'
import { durationText, readDuration } from '@dendro/language/nanoseconds'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { quantity } from '../../parts/chart/numbers.ts'
import { TruncationNote } from '../../parts/records/long-list.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page, Panel } from '../../parts/shell/page.tsx'
import { rangeOf, rangeParamsOf } from '../../parts/time/range-params.ts'
import { TimePicker } from '../../parts/time/time-picker.tsx'
import { type Range, timeRangeOf } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { Button } from '../../ui/button.tsx'
import { DurationHistogram } from './duration-histogram.tsx'
import { NoSpans } from './no-spans.tsx'
import { HOUR, type TraceParams } from './params.ts'
import { TraceDifferences } from './trace-differences.tsx'
import { TraceFilters } from './trace-filters.tsx'
import { conditionsOf, isSelection } from './trace-query.ts'
import { TraceRows } from './trace-rows.tsx'

const SHOWN = 50

/** Lists the traces of the range, with conditions and a histogram that selects durations. */
export function TraceList({ params }: { params: TraceParams }) {
  const navigate = useNavigate()
  const [zone, setZone] = useZone()
  const range = rangeOf(params, HOUR)
  const found = useTraces(params, range)
  const change = (by: Partial<TraceParams>) => {
    void navigate({ to: '/traces', search: { ...params, ...by } })
    // The same conditions are searched once more.
    if (Object.entries(by).every(([name, value]) => params[name as keyof TraceParams] === value)) void found.refetch()
  }
  const pickRange = (next: Range) => change({ r: undefined, f: undefined, t: undefined, ...rangeParamsOf(next) })
  const { data, error } = found
  return (
    <Page title="Traces" actions={<TimePicker range={range} zone={zone} onPick={pickRange} onZone={setZone} />}>
      <TraceFilters
        params={params}
        range={range}
        onChange={change}
        onOpen={(id) => navigate({ to: '/traces', search: { ...params, id } })}
      />
      {error && <FailureNote thrown={error} again={() => found.refetch()} />}
      {!data && !error && <Loading height="20rem" />}
      {data && !error && (
        <div className="flex flex-col gap-4" aria-busy={found.isPlaceholderData}>
          <Durations found={data} params={params} onChange={change} />
          {params.diff && isSelection(params) && <TraceDifferences params={params} range={range} onChange={change} />}
          {data.traces.length === 0 ? (
            <NoTraces params={params} onChange={change} />
          ) : (
            <div>
              <TraceRows traces={data.traces} params={params} zone={zone} />
              {data.has_more && (
                <TruncationNote>
                  Only the {data.traces.length} {params.order === 'slowest' ? 'slowest' : 'newest'}; narrow the range or the conditions for
                  others.
                </TruncationNote>
              )}
              {data.is_sampled && (
                <TruncationNote>
                  Only a share of some traces is stored. Numbers of spans by duration are estimates; the list has stored traces.
                </TruncationNote>
              )}
              {!data.is_exact && <TruncationNote>Some traces have more spans than were counted.</TruncationNote>}
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

function useTraces(params: TraceParams, range: Range) {
  const client = useClient()
  const query = {
    ...timeRangeOf(range),
    ...conditionsOf(params),
    ...(params.order ? { order: params.order } : {}),
    durations: true,
    limit: SHOWN,
  }
  return useQuery({
    queryKey: ['traces', query],
    queryFn: ({ signal }) => client.traces.find({ query, signal }),
    placeholderData: keepPreviousData,
  })
}

type PartProps = { params: TraceParams; onChange(by: Partial<TraceParams>): void }

function Durations({ found: { durations = [], is_sampled }, params, onChange }: PartProps & { found: Found }) {
  const { min, max } = params
  if (durations.length === 0 && min === undefined && max === undefined) return null
  const spans = durations.reduce((sum, one) => sum + one.spans, 0)
  return (
    <Panel
      title="Durations"
      actions={
        <>
          {min === undefined && max === undefined ? (
            <span className="text-soft text-xs tabular-nums">
              {is_sampled ? 'about ' : ''}
              {quantity(spans, 'span')}; drag to select
            </span>
          ) : (
            <>
              <span className="text-soft text-xs tabular-nums">{selectionText(min, max)}</span>
              <Button size="small" onClick={() => onChange({ min: undefined, max: undefined })}>
                All durations
              </Button>
            </>
          )}
          {isSelection(params) && !params.diff && (
            <Button
              size="small"
              variant="main"
              title="Compare the selected traces with the others of the range"
              onClick={() => onChange({ diff: true })}
            >
              What changed?
            </Button>
          )}
        </>
      }
    >
      <div className="p-3">
        {durations.length === 0 ? (
          <p className="text-soft">No span meets the other conditions.</p>
        ) : (
          <DurationHistogram steps={durations} min={min} max={max} onPick={onChange} />
        )}
      </div>
    </Panel>
  )
}

function selectionText(min: string | undefined, max: string | undefined): string {
  const shown = (text: string) => durationText(readDuration(text) ?? 0)
  if (min === undefined) return `up to ${shown(max ?? '')}`
  return max === undefined ? `from ${shown(min)}` : `${shown(min)} to ${shown(max)}`
}

function NoTraces({ params, onChange }: PartProps) {
  const { q, service, op, status, min, max, any } = params
  const hasConditions = [q, service, op, status, min, max].some((one) => one !== undefined)
  if (!hasConditions) {
    return (
      <NoSpans title={any ? 'No traces in this range' : 'No root spans in this range'}>
        {!any && <Button onClick={() => onChange({ any: true })}>Search any span</Button>}
      </NoSpans>
    )
  }
  const none = { q: undefined, service: undefined, op: undefined, status: undefined, min: undefined, max: undefined }
  return (
    <EmptyState title="No trace matches">
      {!any && <p className="text-soft">Only root spans were searched.</p>}
      <div className="flex flex-wrap justify-center gap-2">
        {!any && (
          <Button variant="main" onClick={() => onChange({ any: true })}>
            Search any span
          </Button>
        )}
        <Button onClick={() => onChange(none)}>Show all</Button>
      </div>
    </EmptyState>
  )
}
