import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from '../../parts/shell/client.ts'

const DAY_MS = 86_400_000
const DAYS = 7
export const DATASETS_MAX = 500
const REFRESH_MS = 60_000

/** A Volume is the ingested bytes per UTC day, today last. */
export type Volume = { days: readonly number[]; today: number; week: number }

const NOTHING: Volume = { days: Array.from({ length: DAYS }, () => 0), today: 0, week: 0 }

/** Loads the ingested bytes of recent days; when isCut, only of the largest datasets. */
export function useVolumes() {
  const client = useClient()
  const fromMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS
  const query = { from_ts: fromMs, to_ts: fromMs + DAYS * DAY_MS, num_of_slices: DAYS, limit: DATASETS_MAX }
  const read = useQuery({
    queryKey: ['volumes', fromMs],
    queryFn: ({ signal }) => client.usage.logs({ query: { ...query, usage_type: 'ingestion' }, signal }),
    refetchInterval: REFRESH_MS,
  })
  const byId = useMemo(() => {
    const series = read.data?.groups_series ?? []
    return new Map(
      series.map(({ name, value, timeseries }): [string, Volume] => {
        const days = timeseries.map((slice) => slice.value)
        return [name, { days, today: days.at(-1) ?? 0, week: value }]
      }),
    )
  }, [read.data])
  const isCut = byId.size >= DATASETS_MAX
  return { ...read, isCut, of: (id: string): Volume | undefined => byId.get(id) ?? (read.data && !isCut ? NOTHING : undefined) }
}
