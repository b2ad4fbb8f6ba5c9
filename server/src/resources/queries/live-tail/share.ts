/**
 * The number of events that one stream may still send. All streams of a process share EVENTS_PER_S, so that many streams cost no more than one. A stream
 * that exceeds its share sends one in `oneOf` events.
 */
export type SendShare = { readonly oneOf: number; readonly left: number; readonly atMs: number }

const EVENTS_PER_S = 500
/** The minimum rate of a stream. */
const EVENTS_PER_S_MIN = 20
/** The unused rate that a stream may accumulate, in seconds. */
const BURST_S = 20
const ONE_OF_MAX = 65_536

const perSecond = (streams: number): number => Math.max(EVENTS_PER_S_MIN, EVENTS_PER_S / Math.max(1, streams))

export const firstShare = (streams: number, nowMs: number): SendShare => ({ oneOf: 1, left: perSecond(streams) * BURST_S, atMs: nowMs })

/** Refills a share for the time that has passed. A stream with a large remainder samples more finely. */
export function shareNow({ oneOf, left, atMs }: SendShare, streams: number, nowMs: number): SendShare {
  const most = perSecond(streams) * BURST_S
  const now = Math.min(most, left + (Math.max(0, nowMs - atMs) / 1_000) * perSecond(streams))
  return { oneOf: now > most / 2 ? Math.max(1, oneOf / 2) : oneOf, left: now, atMs: nowMs }
}

/** Samples more coarsely until no more of these numbers are sent than are left. */
export function reducedShare(share: SendShare, seqs: readonly bigint[]): SendShare {
  let { oneOf } = share
  while (oneOf < ONE_OF_MAX && seqs.filter((seq) => isOneOf(seq, oneOf)).length > share.left) oneOf *= 2
  return { ...share, oneOf }
}

/** Reports whether a number is in the sample of one in `oneOf`, a power of two. The sample is stable and contains the samples of all larger powers. */
export function isOneOf(seq: bigint, oneOf: number): boolean {
  if (oneOf === 1) return true
  const low = Number(seq & 0xffff_ffffn)
  const mixed = Math.imul(low ^ (low >>> 16), 0x45d9f3b)
  const hash = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  return ((hash ^ (hash >>> 13)) & (oneOf - 1)) === 0
}
