import type { LineSample } from '../../events/ledger/samples.ts'
import { timeNsAt } from '../../events/writer/block-times.ts'
import type { NativeColumn } from '../../events/writer/post.ts'
import type { SampledRow } from './sampling.ts'

/** Counts of a block's events for the ledger, besides their number. */
export type BlockCounts = {
  /** The bytes of the lines as stored. */
  rawBytes: number
  /** Events that exceeded the maximum length. */
  truncated: number
  /** Events older than an hour on arrival. */
  late: number
  /** Lines that were chosen by chance; absent for none. */
  samples?: readonly LineSample[]
}

const LATE_MS = 3_600_000
const NS_PER_MS = 1_000_000

/** What is known of the lines of a block, by row: their lengths, and which were cut and which sampled. All lines of a post arrive at one time. */
export type AddedLines = { atMs: number; readonly lengths: number[]; readonly cut: Set<number>; readonly sampled: Map<number, SampledRow> }

/** Counts the given rows, whose columns these are. */
export function countsOf({ atMs, lengths, cut, sampled }: AddedLines, rows: Uint32Array, columns: readonly NativeColumn[]): BlockCounts {
  const times = columns.find(({ name }) => name === 'ts')?.bytes
  let rawBytes = 0
  let truncated = 0
  // An iterator would leave an object for each row.
  for (let at = 0; at < rows.length; at += 1) rawBytes += lengths[rows[at] as number] ?? 0
  if (cut.size > 0) for (const row of rows) if (cut.has(row)) truncated += 1
  const counts = { rawBytes, truncated, late: times ? countOlder(times, atMs - LATE_MS) : 0 }
  return sampled.size === 0 ? counts : { ...counts, samples: samplesIn(sampled, rows, columns) }
}

/** The samples among the rows of a block, with their patterns. */
function samplesIn(sampled: AddedLines['sampled'], rows: Uint32Array, columns: readonly NativeColumn[]): LineSample[] {
  const bytes = columns.find(({ name }) => name === 'skeleton')?.bytes
  const numbers = bytes && new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const samples: LineSample[] = []
  for (let at = 0; at < rows.length; at += 1) {
    const row = sampled.get(rows[at] as number)
    if (!row) continue
    const number = numbers?.getBigUint64(8 * at, true) ?? 0n
    samples.push({ ...row, pattern: number === 0n ? '' : number.toString(16).padStart(16, '0') })
  }
  return samples
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
