import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { useMay } from '../../../parts/shell/permitted.tsx'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const REFRESH_MS = 30_000

/** What rules did in the last day. */
export function useRulesLedger() {
  const client = useClient()
  const may = useMay()
  const toMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  const query = { from_ts: toMs - DAY_MS, to_ts: toMs, limit: 1, num_of_slices: 1 }
  return useQuery({
    queryKey: ['ledger', 'totals', toMs],
    queryFn: ({ signal }) => client.ledger.get({ query, signal }),
    refetchInterval: REFRESH_MS,
    enabled: may('usage_read'),
    placeholderData: (before) => before,
  })
}

const WEEK = 7
const MONTH = 30

/** What datasets receive in a month, and what that costs where there is a price, from the last week. Undefined while that is not known. */
export function useMonth(from: readonly string[] | undefined) {
  const client = useClient()
  const may = useMay()
  const toMs = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS
  const query = {
    by: 'dataset',
    from_ts: toMs - WEEK * DAY_MS,
    to_ts: toMs,
    limit: 1,
    num_of_slices: 1,
    ...(from ? { from: [...from] } : {}),
  }
  const { data } = useQuery({
    queryKey: ['spend', 'total', from, toMs],
    queryFn: ({ signal }) => client.spend.get({ query, signal }),
    refetchInterval: REFRESH_MS,
    enabled: may('usage_read'),
    placeholderData: (before) => before,
  })
  if (!data) return undefined
  const { bytes, cost = 0 } = data.total
  return { bytes: (Number(bytes) * MONTH) / WEEK, cost: data.price && { amount: (cost * MONTH) / WEEK, currency: data.price.currency } }
}
