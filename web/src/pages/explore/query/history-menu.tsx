import { useEffect, useState } from 'react'
import { ago, quantity } from '../../../parts/chart/numbers.ts'
import { shortName, useDatasetsById } from '../../../parts/datasets/datasets.ts'
import { QueryText } from '../../../parts/datasets/pattern-texts.tsx'
import { hasWords } from '../../../parts/records/has-words.ts'
import { nameOf, type Zone } from '../../../parts/time/time-range.ts'
import { Button } from '../../../ui/button.tsx'
import { type ExploreParams, exploreRangeOf, optional } from '../explore-params.ts'
import type { ResultInfo } from './cost-line.tsx'
import { clearRecentQueries, type RecentQuery, recentQueries, recentQueryKey, rememberQuery } from './recent-queries.ts'

type HistoryMenuProps = { zone: Zone; onOpen(by: (now: ExploreParams) => ExploreParams): void }

/** Lists recent queries of this browser and runs them again. */
export function HistoryMenu({ zone, onOpen }: HistoryMenuProps) {
  const [all, setAll] = useState<RecentQuery[]>(recentQueries)
  const [typed, setTyped] = useState('')
  const nowMs = Date.now()
  const { nameOf: nameOfDataset } = useDatasetsById(all.flatMap(({ d = [] }) => d))
  const datasetText = ({ d = [] }: RecentQuery): string => d.map((id) => nameOfDataset(id, shortName)).join(', ') || 'all datasets'
  const matching = all.filter((one) => hasWords(`${one.q} ${datasetText(one)}`, typed))
  return (
    <div className="flex w-96 max-w-full flex-col gap-2">
      {all.length === 0 ? (
        <p className="text-soft">No recent queries yet. Queries that you run are stored here, in this browser only.</p>
      ) : (
        <>
          <input
            className="h-8 rounded border border-line bg-ground px-2"
            placeholder="Find a query"
            aria-label="Find a query"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <ul className="max-h-80 overflow-auto" aria-label="Recent queries">
            {matching.map((one) => (
              <li key={recentQueryKey(one)}>
                <button
                  type="button"
                  className="w-full rounded px-2 py-1 text-left hover:bg-tint"
                  onClick={() => onOpen((now) => paramsOfRecent(now, one))}
                >
                  <span className="block truncate font-mono text-xs">
                    <QueryText text={one.q || 'all events'} />
                  </span>
                  <span className="block truncate text-soft text-xs">
                    {[...recentQueryNotes(one, zone, nowMs), datasetText(one)].join(' · ')}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          {matching.length === 0 && <p className="px-2 text-soft">No query matches.</p>}
          <div className="flex items-center justify-between border-line border-t pt-2 text-soft text-xs">
            <span>{all.length === 1 ? '1 query' : `${all.length} queries`}, stored in this browser</span>
            <Button
              size="small"
              variant="quiet"
              onClick={() => {
                clearRecentQueries()
                setAll([])
              }}
            >
              Clear history
            </Button>
          </div>
        </>
      )}
    </div>
  )
}

/** The time of a query, its number of results and its range. */
export function recentQueryNotes(one: RecentQuery, zone: Zone, nowMs: number): string[] {
  return [
    ...(one.atMs > 0 ? [ago(one.atMs, nowMs)] : []),
    ...(one.events === undefined ? [] : [quantity(one.events, 'event')]),
    ...(one.atMs > 0 ? [nameOf(exploreRangeOf(one), zone)] : []),
  ]
}

/** Sets the query, datasets and range of a recent query; display options stay. */
export const paramsOfRecent = (now: ExploreParams, { q, d, r, f, t }: RecentQuery): ExploreParams =>
  optional({
    ...now,
    q: q || undefined,
    d,
    r: r ?? (f === undefined ? now.r : undefined),
    f,
    t,
    sf: undefined,
    st: undefined,
    off: undefined,
  })

/** Stores every query that has a condition, once it has results. */
export function useHistory(
  { q = '', d, r, f, t }: ExploreParams,
  { cost, label, isFetching, isPlaceholderData }: ResultInfo,
  isLive: boolean,
): void {
  const isLoaded = cost !== undefined && label === undefined && !isFetching && !isPlaceholderData && !isLive
  const events = cost?.events
  const key = JSON.stringify([q, d, r, f, t])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds everything that is stored
  useEffect(() => {
    if (!isLoaded || q === '' || events === undefined) return
    rememberQuery({
      q,
      ...(d ? { d } : {}),
      ...(r ? { r } : {}),
      ...(f === undefined ? {} : { f }),
      ...(t === undefined ? {} : { t }),
      atMs: Date.now(),
      events,
    })
  }, [key, isLoaded, events])
}
