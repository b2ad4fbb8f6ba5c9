import { useQueries } from '@tanstack/react-query'
import { count } from '../../parts/chart/numbers.ts'
import { useClient } from '../../parts/shell/client.ts'

/** Loads the effective retention of the datasets of each page, as text; undefined while it is unknown. */
export function useRetentionDays(idsByPage: readonly (readonly string[])[]): (id: string) => string | undefined {
  const client = useClient()
  const reads = useQueries({
    queries: idsByPage
      .filter((ids) => ids.length > 0)
      .map((ids) => ({
        queryKey: ['retention', 'overview', ids],
        queryFn: async ({ signal }: { signal: AbortSignal }) => {
          const { datasets } = await client.retention.overview({ query: { from: [...ids] }, signal })
          return new Map(datasets.map(({ log_id, retention_days }) => [log_id, retention_days]))
        },
        staleTime: 60_000,
      })),
  })
  return (id) => {
    const days = reads.find(({ data }) => data?.has(id))?.data?.get(id)
    return days === undefined ? undefined : retentionDaysText(days)
  }
}

/** Formats a number of days; null means without end. */
export const retentionDaysText = (days: number | null): string => (days === null ? 'forever' : days === 1 ? '1 day' : `${count(days)} days`)
