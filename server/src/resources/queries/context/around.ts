import type { FoundEvent, Position } from '../../../reading/question.ts'

/** GAP_MS without an event ends a context. */
export const GAP_MS = 60_000

const NS_PER_MS = 1_000_000n
const SEQ_MAX = 2n ** 64n - 1n

export const placeOf = ({ timeNs, seq }: Position): Position => ({ timeNs, seq })

/** justBefore and justAfter are the neighbours of a position, between which and it nothing can lie. */
export const justBefore = ({ timeNs, seq }: Position): Position =>
  seq > 0n ? { timeNs, seq: seq - 1n } : { timeNs: timeNs - 1n, seq: SEQ_MAX }
export const justAfter = ({ timeNs, seq }: Position): Position =>
  seq < SEQ_MAX ? { timeNs, seq: seq + 1n } : { timeNs: timeNs + 1n, seq: 0n }

/** uninterrupted keeps the events up to the first gap, walking away from a moment. */
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

/** A Share is how many places of an answer go to older events, and how many to the one at the place and newer ones. */
export type Share = { older: number; newer: number }

/** shareOut gives each side half of the places, and what one side does not use to the other. */
export function shareOut(limit: number, available: Share): Share {
  const newer = Math.min(available.newer, Math.max(Math.ceil(limit / 2), limit - available.older))
  return { newer, older: Math.min(available.older, limit - newer) }
}
