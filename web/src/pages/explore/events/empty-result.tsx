import { ApiFailure } from '@dendro/api/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useClient } from '../../../parts/client.ts'
import { FailureNote } from '../../../parts/failure.tsx'
import { ago, quantity } from '../../../parts/numbers.ts'
import { clockOf, timeRangeOf, type Zone } from '../../../parts/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { type ExploreParams, withQuery } from '../explore-params.ts'
import { splitClauses, withoutClause } from '../query/clauses.ts'
import { type ExploreQuery, sourceOf } from '../query/explore-query.ts'

type EmptyResultProps = {
  params: ExploreParams
  query: ExploreQuery
  isLive: boolean
  /** hasReceived says that some dataset has been heard of. */
  hasReceived: boolean
  zone: Zone
  onChange(by: (now: ExploreParams) => ExploreParams): void
}

const HOUR_MS = 3_600_000
/** FILTERS_MAX bounds the conditions that are counted one by one. */
const FILTERS_MAX = 10

/** NothingFound says why there is nothing to see, and the way out: nothing was ever received, nothing in this range, or conditions that nothing meets. */
export function EmptyResult({ params, query, isLive, hasReceived, zone, onChange }: EmptyResultProps) {
  if (isLive) return <EmptyState title="Waiting for events">Whatever arrives and matches is shown here at once.</EmptyState>
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
    <EmptyState title="Nothing has been received yet">
      <p className="text-soft">Send the first event, and it will be here. Everything a shipper needs is ready to be copied.</p>
      <div className="flex flex-wrap justify-center gap-3">
        <Link to="/data" className="text-accent underline">
          How to send
        </Link>
        <Link to="/welcome" className="text-accent underline">
          Try it with demo data
        </Link>
      </div>
    </EmptyState>
  )
}

/** NotPermitted says that the events may be there, but not for this person, and what an administrator needs to change that. */
export function Forbidden({ failure, onRetry }: { failure: ApiFailure; onRetry(): unknown }) {
  return (
    <EmptyState title="You may not see these events">
      <p className="max-w-prose text-soft">
        That is no statement on whether there are any. An administrator can give you a role that reads these datasets.
      </p>
      <FailureNote thrown={failure} again={onRetry} />
    </EmptyState>
  )
}

export const isForbidden = (thrown: unknown): thrown is ApiFailure => thrown instanceof ApiFailure && thrown.status === 403

/** useLastEvent is when the datasets last had an event at all. */
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
      <EmptyState title={query.datasets === undefined ? 'No dataset holds an event' : 'These datasets hold no event'}>
        <p className="text-soft">Nothing has arrived here yet, or what had arrived is past its retention.</p>
        <Link to="/data" className="text-accent underline">
          How to send
        </Link>
      </EmptyState>
    )
  const { sf: _sf, st: _st, ...whole } = params
  return (
    <EmptyState title="Nothing in this range">
      {params.sf !== undefined && <Button onClick={() => onChange(() => whole)}>Show the whole range</Button>}
      {last.isPending && <p className="text-soft">Looking for the last event …</p>}
      {last.error && <FailureNote thrown={last.error} again={() => last.refetch()} />}
      {atMs !== undefined && (
        <>
          <p className="text-soft">
            The last event was {ago(atMs, Date.now())}, at {timeText(atMs, zone)}.
          </p>
          <Button
            look="main"
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

/** Excluded counts what each condition leaves alone, so that the one to blame is seen; where even all of them leave nothing, the range is to blame. */
function ConditionCounts({ params, query, hasReceived, zone, onChange }: EmptyRangeProps) {
  const client = useClient()
  const clauses = splitClauses(query.where)
  const counts = useQuery({
    queryKey: ['counts of conditions', query.datasets, query.where, query.range, query.refreshCount],
    queryFn: ({ signal }) =>
      Promise.all(
        // The last one is without any condition.
        [...clauses.slice(0, FILTERS_MAX), ''].map(async (where) => {
          const when = { ...sourceOf(query), ...timeRangeOf(query.range), select: ['count(*)'], num_of_slices: 1 }
          const body = where === '' ? when : { ...when, where }
          return Number((await client.search.run({ body, signal, repeatable: true })).totals.count)
        }),
      ),
  })
  const all = counts.data?.at(-1)
  if (all === 0) return <EmptyRange {...{ params, query, hasReceived, zone, onChange }} />
  return (
    <EmptyState title={clauses.length === 1 ? 'No event meets the condition' : 'No event meets all conditions'}>
      {all !== undefined && <p className="text-soft">Without conditions there are {quantity(all, 'event')} in this range.</p>}
      <ul className="flex w-full max-w-2xl flex-col gap-1" aria-label="What each condition leaves">
        {clauses.map((clause, at) => (
          <li key={clause} className="flex items-center gap-3">
            <code className="min-w-0 flex-1 truncate text-left font-mono text-xs" title={clause}>
              {clause}
            </code>
            <span className="text-soft text-xs tabular-nums">{countText(at < FILTERS_MAX ? counts.data?.[at] : undefined)}</span>
            <Button size="small" onClick={() => onChange((now) => withQuery(now, withoutClause(params.q ?? '', clause)))}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {counts.isPending && <p className="text-soft">Counting what each leaves …</p>}
      {counts.error && <FailureNote thrown={counts.error} again={() => counts.refetch()} />}
    </EmptyState>
  )
}

const countText = (events: number | undefined): string => (events === undefined ? '' : `alone: ${quantity(events, 'event')}`)
