/** Sequence numbers count nanoseconds since this time, so 63 bits last until the year 2317. */
export const SEQ_EPOCH_MS = Date.UTC(2025, 0, 1)

/** About the time at which the event with that number arrived: a block of numbers is claimed up to some seconds before. */
export const arrivalOfSeq = (seq: bigint): number => SEQ_EPOCH_MS + Number(seq / 1_000_000n)

const SEQ_MAX = 2n ** 63n - 1n

/** The lowest number of events that arrived at that time or later. */
export function firstSeqAt(ms: number): bigint {
  const seq = BigInt(Math.ceil(ms) - SEQ_EPOCH_MS) * 1_000_000n
  return seq < 0n ? 0n : seq > SEQ_MAX ? SEQ_MAX : seq
}
