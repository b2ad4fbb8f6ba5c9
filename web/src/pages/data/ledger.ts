import type { LedgerEntry } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/shell/client.ts'

const HOUR_MS = 3_600_000
const HOURS = 7 * 24
const REFRESH_MS = 30_000

/** Loads the ingestion ledger of a dataset: seven days, by hour. */
export function useLedger(id: string) {
  const client = useClient()
  const toMs = (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS
  const query = { from_ts: toMs - HOURS * HOUR_MS, to_ts: toMs, from: [id], num_of_slices: HOURS, limit: 10_000 }
  return useQuery({
    queryKey: ['ledger', id, query.from_ts],
    queryFn: ({ signal }) => client.ledger.get({ query, signal }),
    refetchInterval: REFRESH_MS,
  })
}

type LedgerCount = 'stored' | 'rejected' | 'duplicate'

/** Sums the ledger over all senders, by hour. */
export function hoursOf(ledger: { start_time: number; end_time: number; slice_ms: number; entries: readonly LedgerEntry[] }) {
  const { start_time, end_time, slice_ms, entries } = ledger
  const slices = Math.ceil((end_time - start_time) / slice_ms)
  const times = Array.from({ length: slices }, (_, at) => start_time + at * slice_ms)
  const sumsOf = (member: LedgerCount): number[] => {
    const sums = times.map(() => 0)
    for (const entry of entries) {
      const at = Math.floor((entry.start_time - start_time) / slice_ms)
      sums[at] = (sums[at] ?? 0) + Number(entry[member])
    }
    return sums
  }
  return { times, stepMs: slice_ms, sumsOf }
}

/** A Sender is a key or user on one protocol, with its totals. */
export type Sender = {
  key: string
  identity: string | undefined
  protocol: string
  received: number
  stored: number
  rejected: number
  lastMs: number
}

/** Lists the senders, busiest first. */
export function sendersOf(entries: readonly LedgerEntry[]): Sender[] {
  const senders = new Map<string, Sender>()
  for (const { identity, protocol, received, stored, rejected, end_time } of entries) {
    const key = `${identity?.id}/${protocol}`
    const before = senders.get(key) ?? { key, identity: identity?.id, protocol, received: 0, stored: 0, rejected: 0, lastMs: 0 }
    senders.set(key, {
      ...before,
      received: before.received + Number(received),
      stored: before.stored + Number(stored),
      rejected: before.rejected + Number(rejected),
      lastMs: Math.max(before.lastMs, end_time),
    })
  }
  return [...senders.values()].sort((a, b) => b.received - a.received)
}

/** The latest entry with rejections. */
export const lastRejectedOf = (entries: readonly LedgerEntry[]): LedgerEntry | undefined =>
  entries.filter(({ rejected }) => Number(rejected) > 0).toSorted((a, b) => b.end_time - a.end_time)[0]
