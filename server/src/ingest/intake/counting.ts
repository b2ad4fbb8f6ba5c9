import { timeNsAt } from '../../events/writer/block-times.ts'
import type { NativeColumn } from '../../events/writer/post.ts'

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

/** What is known of the lines of a block, by row: their lengths, and which were cut. All lines of a post arrive at one time. */
export type AddedLines = { atMs: number; readonly lengths: number[]; readonly cut: Set<number> }

/** Counts the given rows, whose columns these are. */
export function countsOf({ atMs, lengths, cut }: AddedLines, rows: Uint32Array, columns: readonly NativeColumn[]): BlockCounts {
  const times = columns.find(({ name }) => name === 'ts')?.bytes
  let rawBytes = 0
  let truncated = 0
  // An iterator would leave an object for each row.
  for (let at = 0; at < rows.length; at += 1) rawBytes += lengths[rows[at] as number] ?? 0
  if (cut.size > 0) for (const row of rows) if (cut.has(row)) truncated += 1
  return { rawBytes, truncated, late: times ? countOlder(times, atMs - LATE_MS) : 0 }
}

/** Counts the times before `beforeMs`. Times are 64-bit nanoseconds; a double is precise enough to compare hours. */
function countOlder(times: Uint8Array, beforeMs: number): number {
  const view = new DataView(times.buffer, times.byteOffset, times.byteLength)
  const beforeNs = beforeMs * NS_PER_MS
  let older = 0
  for (let at = 0; at < times.byteLength; at += 8) {
    if (timeNsAt(view, at) < beforeNs) older += 1
  }
  return older
}
