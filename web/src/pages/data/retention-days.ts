import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { count } from '../../parts/chart/numbers.ts'
import { useClient } from '../../parts/shell/client.ts'

/** Returns the effective retention of a dataset as text, or undefined while it is unknown. */
export function useRetentionDays(): (id: string) => string | undefined {
  const client = useClient()
  const read = useQuery({
    queryKey: ['retention', 'overview'],
    queryFn: ({ signal }) => client.retention.overview({ signal }),
    staleTime: 60_000,
  })
  const byId = useMemo(
    () => new Map((read.data?.datasets ?? []).map(({ log_id, retention_days }) => [log_id, retention_days])),
    [read.data],
  )
  return (id) => {
    const days = byId.get(id)
    return days === undefined ? undefined : retentionDaysText(days)
  }
}

/** Formats a number of days; null means without end. */
export const retentionDaysText = (days: number | null): string => (days === null ? 'forever' : days === 1 ? '1 day' : `${count(days)} days`)
