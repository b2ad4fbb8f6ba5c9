import type { EventPosition, FoundEvent } from '../../../reading/query.ts'

/** A context ends at a gap of this length. */
export const GAP_MS = 60_000

const NS_PER_MS = 1_000_000n
const SEQ_MAX = 2n ** 64n - 1n

export const positionOf = ({ timeNs, seq }: EventPosition): EventPosition => ({ timeNs, seq })

/** The adjacent positions: no event can lie in between. */
export const justBefore = ({ timeNs, seq }: EventPosition): EventPosition =>
  seq > 0n ? { timeNs, seq: seq - 1n } : { timeNs: timeNs - 1n, seq: SEQ_MAX }
export const justAfter = ({ timeNs, seq }: EventPosition): EventPosition =>
  seq < SEQ_MAX ? { timeNs, seq: seq + 1n } : { timeNs: timeNs + 1n, seq: 0n }

/** Keeps the events up to the first gap. */
export function uninterrupted(events: readonly FoundEvent[], fromNs: bigint): readonly FoundEvent[] {
  let lastNs = fromNs
  const gap = events.findIndex(({ timeNs }) => {
    const distance = timeNs > lastNs ? timeNs - lastNs : lastNs - timeNs
    lastNs = timeNs
    return distance > BigInt(GAP_MS) * NS_PER_MS
  })
  return gap < 0 ? events : events.slice(0, gap)
}

export type Direction = 'before' | 'after' | 'both'

/** How many events of the result are older, and how many are at the position or newer. */
export type SideCounts = { older: number; newer: number }

/** Splits the result in half and gives what one side does not use to the other. */
export function shareOut(limit: number, available: SideCounts): SideCounts {
  const newer = Math.min(available.newer, Math.max(Math.ceil(limit / 2), limit - available.older))
  return { newer, older: Math.min(available.older, limit - newer) }
}
