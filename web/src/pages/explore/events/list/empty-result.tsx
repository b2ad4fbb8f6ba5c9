import type { SearchResponse } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ago, quantity } from '../../../../parts/chart/numbers.ts'
import { useClient } from '../../../../parts/shell/client.ts'
import { FailureNote } from '../../../../parts/shell/failure.tsx'
import { clockOf, timeRangeOf, type Zone } from '../../../../parts/time/time-range.ts'
import { Button } from '../../../../ui/button.tsx'
import { type ExploreParams, withQuery } from '../../explore-params.ts'
import { replaceClause, splitClauses, withoutClause } from '../../query/clauses.ts'
import { type ExploreQuery, sourceOf } from '../../query/explore-query.ts'

type EmptyResultProps = {
  params: ExploreParams
  query: ExploreQuery
  isLive: boolean
  /** True when any dataset has received data. */
  hasReceived: boolean
  zone: Zone
  onChange(by: (now: ExploreParams) => ExploreParams): void
}

const HOUR_MS = 3_600_000
/** Limits how many conditions are counted one by one. */
const FILTERS_MAX = 10

/** Explains an empty result and offers a way out: no data was ever received, the range has no events, or no event matches the conditions. */
export function EmptyResult({ params, query, isLive, hasReceived, zone, onChange }: EmptyResultProps) {
  if (isLive) return <EmptyState title="Waiting for events">Matching events appear here as they arrive.</EmptyState>
  return splitClauses(query.where).length > 0 ? (
    <ConditionCounts {...{ params, query, hasReceived, zone, onChange }} />
  ) : (
    <EmptyRange {...{ params, query, hasReceived, zone, onChange }} />
  )
}

function EmptyState({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 p-10 text-center max-sm:p-4">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </div>
  )
}

function NeverReceived() {
  return (
    <EmptyState title="No events received yet">
      <p className="text-soft">Send the first event, and it appears here. Shipper configurations are ready to copy.</p>
      <div className="flex flex-wrap justify-center gap-3">
        <Link to="/data" className="text-accent underline">
          How to send events
        </Link>
        <Link to="/welcome" className="text-accent underline">
          Try demo data
        </Link>
      </div>
    </EmptyState>
  )
}

/** Explains that the caller lacks access; the failure names the missing permission for an administrator. */
export function Forbidden({ failure, onRetry }: { failure: ApiFailure; onRetry(): unknown }) {
  return (
    <EmptyState title="You do not have access to these events">
      <p className="max-w-prose text-soft">Matching events may exist. An administrator can give you a role that reads these datasets.</p>
      <FailureNote thrown={failure} again={onRetry} />
    </EmptyState>
  )
}

export const isForbidden = (thrown: unknown): thrown is ApiFailure => thrown instanceof ApiFailure && thrown.status === 403

/** Loads the newest event of the datasets, whatever the range. */
function useLastEvent(query: ExploreQuery, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['last event', query.datasets, query.refreshCount],
    enabled: isOn,
    queryFn: ({ signal }) =>
      client.search.run({ body: { ...sourceOf(query), time_range: '', select: ['@time'], limit: 1 }, signal, repeatable: true }),
  })
}

type EmptyRangeProps = Omit<EmptyResultProps, 'isLive'>

function EmptyRange({ params, query, hasReceived, zone, onChange }: EmptyRangeProps) {
  const last = useLastEvent(query, true)
  const atMs = last.data?.events[0]?.metadata.timestamp
  if (last.data && atMs === undefined && query.datasets === undefined && !hasReceived) return <NeverReceived />
  if (last.data && atMs === undefined)
    return (
      <EmptyState title={query.datasets === undefined ? 'No dataset contains events' : 'These datasets contain no events'}>
        <p className="text-soft">Nothing has been received yet, or the retention of all events has ended.</p>
        <Link to="/data" className="text-accent underline">
          How to send events
        </Link>
      </EmptyState>
    )
  const { sf: _sf, st: _st, ...whole } = params
  return (
    <EmptyState title="No events in this range">
      {params.sf !== undefined && <Button onClick={() => onChange(() => whole)}>Show the whole range</Button>}
      {last.isPending && <p className="text-soft">Loading the last event…</p>}
      {last.error && <FailureNote thrown={last.error} again={() => last.refetch()} />}
      {atMs !== undefined && (
        <>
          <p className="text-soft">
            The last event was {ago(atMs, Date.now())}, at {timeText(atMs, zone)}.
          </p>
          <Button
            variant="main"
            onClick={() =>
              onChange((now) => {
                const { r: _r, sf: _from, st: _to, ...rest } = now
                return { ...rest, f: atMs - HOUR_MS, t: atMs + 1 }
              })
            }
          >
            Jump to the last event
          </Button>
        </>
      )}
    </EmptyState>
  )
}

const timeText = (ms: number, zone: Zone): string => `${clockOf(ms, zone).day} ${clockOf(ms, zone).clock.slice(0, 8)}`

/** Counts the matches of each condition, to show which one excludes everything. If no event matches even without conditions, the range is empty. */
function ConditionCounts({ params, query, hasReceived, zone, onChange }: EmptyRangeProps) {
  const client = useClient()
  const clauses = splitClauses(query.where)
  const counts = useQuery({
    queryKey: ['counts of conditions', query.datasets, query.where, query.range, query.refreshCount],
    queryFn: ({ signal }) =>
      Promise.all(
        // The last count is without conditions.
        [...clauses.slice(0, FILTERS_MAX), ''].map(async (where) => {
          const when = { ...sourceOf(query), ...timeRangeOf(query.range), select: ['count(*)'], num_of_slices: 1 }
          const body = where === '' ? when : { ...when, where }
          const { totals, warnings = [] } = await client.search.run({ body, signal, repeatable: true })
          return { events: Number(totals.count), warnings }
        }),
      ),
  })
  const all = counts.data?.at(-1)?.events
  if (all === 0) return <EmptyRange {...{ params, query, hasReceived, zone, onChange }} />
  return (
    <EmptyState title={clauses.length === 1 ? 'No event matches the condition' : 'No event matches all conditions'}>
      {all !== undefined && <p className="text-soft">Without conditions there are {quantity(all, 'event')} in this range.</p>}
      <ul className="flex w-full max-w-2xl flex-col gap-1" aria-label="Matches of each condition">
        {clauses.map((clause, at) => (
          <li key={clause} className="flex flex-col gap-1">
            <div className="flex items-center gap-3">
              <code className="min-w-0 flex-1 truncate text-left font-mono text-xs" title={clause}>
                {clause}
              </code>
              <span className="text-soft text-xs tabular-nums">{countText(at < FILTERS_MAX ? counts.data?.[at]?.events : undefined)}</span>
              <Button size="small" onClick={() => onChange((now) => withQuery(now, withoutClause(params.q ?? '', clause)))}>
                Remove
              </Button>
            </div>
            {at < FILTERS_MAX &&
              counts.data?.[at]?.warnings.map((warning) => (
                <NearMiss
                  key={`${warning.code} ${warning.position}`}
                  warning={warning}
                  onFix={(fix) => onChange((now) => withQuery(now, replaceClause(params.q ?? '', clause, fixed(clause, fix))))}
                />
              ))}
          </li>
        ))}
      </ul>
      {counts.isPending && <p className="text-soft">Counting the matches of each condition…</p>}
      {counts.error && <FailureNote thrown={counts.error} again={() => counts.refetch()} />}
    </EmptyState>
  )
}

type QueryWarning = NonNullable<SearchResponse['warnings']>[number]
type NearMissProps = { warning: QueryWarning; onFix(fix: NonNullable<QueryWarning['fix']>): void }

/** Explains why a condition matches nothing, and offers the one that was probably meant. */
function NearMiss({ warning: { message, hint, fix }, onFix }: NearMissProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-left text-xs">
      <span className="text-warn">
        {message}
        {hint === undefined || fix ? '' : `: ${hint}`}
      </span>
      {fix && (
        <Button size="small" onClick={() => onFix(fix)}>
          Change to <code className="font-mono">{fix.text}</code>
        </Button>
      )}
    </div>
  )
}

const fixed = (clause: string, { position, length, text }: NonNullable<QueryWarning['fix']>): string =>
  clause.slice(0, position) + text + clause.slice(position + length)

const countText = (events: number | undefined): string => (events === undefined ? '' : `matches ${quantity(events, 'event')}`)
