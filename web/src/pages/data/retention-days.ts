import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from '../../parts/client.ts'
import { count } from '../../parts/numbers.ts'

/** useKept tells for how long events of a dataset are kept, whichever rule says so; nothing while that is not known. */
export function useKept(): (id: string) => string | undefined {
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
    return days === undefined ? undefined : keptText(days)
  }
}

/** keptText writes a number of days; null is for ever. */
export const keptText = (days: number | null): string => (days === null ? 'for ever' : days === 1 ? '1 day' : `${count(days)} days`)
