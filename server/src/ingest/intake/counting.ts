import type { NativeColumn } from '../../events/writer/post.ts'
import type { EventLine } from './line.ts'

/** Counts of a block's events for the ledger, besides their number. */
export type BlockCounts = {
  /** The bytes of the lines as stored. */
  rawBytes: number
  /** Events that exceeded the maximum length. */
  truncated: number
  /** Events older than an hour on arrival. */
  late: number
}

const LATE_MS = 3_600_000
const NS_PER_MS = 1_000_000
const HIGH = 2 ** 32

export function countsOf(lines: readonly EventLine[], columns: readonly NativeColumn[]): BlockCounts {
  const times = columns.find(({ name }) => name === 'ts')?.bytes
  const atMs = lines[0]?.arrival.at.ms ?? 0
  return {
    rawBytes: lines.reduce((sum, { bytes }) => sum + bytes.length, 0),
    truncated: lines.reduce((sum, { isCut }) => sum + (isCut ? 1 : 0), 0),
    late: times ? countOlder(times, atMs - LATE_MS) : 0,
  }
}

/** Counts the times before `beforeMs`. Times are 64-bit nanoseconds; a double is precise enough to compare hours. */
function countOlder(times: Uint8Array, beforeMs: number): number {
  const view = new DataView(times.buffer, times.byteOffset, times.byteLength)
  const beforeNs = beforeMs * NS_PER_MS
  let older = 0
  for (let at = 0; at < times.byteLength; at += 8) {
    if (view.getInt32(at + 4, true) * HIGH + view.getUint32(at, true) < beforeNs) older += 1
  }
  return older
}
