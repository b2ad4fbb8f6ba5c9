import { useQueries } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'

const DAY_MS = 86_400_000
const DAYS = 7
const REFRESH_MS = 60_000

/** A Volume is the ingested bytes per UTC day, today last. */
export type Volume = { days: readonly number[]; today: number; week: number }

const NOTHING: Volume = { days: Array.from({ length: DAYS }, () => 0), today: 0, week: 0 }

/** Loads the ingested bytes of recent days of the datasets of each page. */
export function useVolumes(idsByPage: readonly (readonly string[])[]): { error: unknown; of(id: string): Volume | undefined } {
  const client = useClient()
  const fromMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS
  const period = { from_ts: fromMs, to_ts: fromMs + DAYS * DAY_MS, num_of_slices: DAYS }
  const reads = useQueries({
    queries: idsByPage
      .filter((ids) => ids.length > 0)
      .map((ids) => ({
        queryKey: ['volumes', fromMs, ids],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const query = { ...period, usage_type: 'ingestion' as const, from: [...ids], limit: ids.length }
          const { groups_series } = await client.usage.logs({ query, signal })
          const found = new Map(groups_series.map(({ name, value, timeseries }) => [name, volumeOf(value, timeseries)]))
          return new Map(ids.map((id) => [id, found.get(id) ?? NOTHING]))
        },
        refetchInterval: REFRESH_MS,
      })),
  })
  return {
    error: reads.find(({ error }) => error !== null)?.error,
    of: (id) => reads.find(({ data }) => data?.has(id))?.data?.get(id),
  }
}

function volumeOf(week: number, timeseries: readonly { readonly value: number }[]): Volume {
  const days = timeseries.map((slice) => slice.value)
  return { days, today: days.at(-1) ?? 0, week }
}
