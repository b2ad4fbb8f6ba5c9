import type { ChangedRange } from '../store/event-changes.ts'
import type { Block } from './post.ts'

const HIGH = 2 ** 32
const NS_PER_MS = 1_000_000
const DAY_MS = 86_400_000
const TIME_BYTES = 8

/** The times of the events of some blocks, from the first to the last. */
export function timesOf(blocks: readonly Block[]): ChangedRange {
  const ranges = blocks.map(blockTimes)
  return { fromMs: Math.min(...ranges.map(({ fromMs }) => fromMs)), toMs: Math.max(...ranges.map(({ toMs }) => toMs)) }
}

/** Reads a time of 64-bit nanoseconds as a double, which is precise to a microsecond. */
export const timeNsAt = (view: DataView, at: number): number => view.getInt32(at + 4, true) * HIGH + view.getUint32(at, true)

/** About this number of times of a block in milliseconds, evenly spread over its rows. */
export function sampledTimesMs({ columns, rows }: Block, count: number): readonly number[] {
  const times = columns.find(({ name }) => name === 'ts')?.bytes
  if (!times) return []
  const view = new DataView(times.buffer, times.byteOffset, times.byteLength)
  const step = Math.max(1, Math.floor(rows / count))
  const sampled: number[] = []
  for (let row = 0; row < rows; row += step) sampled.push(timeNsAt(view, row * TIME_BYTES) / NS_PER_MS)
  return sampled
}

/** The range gets a millisecond more at both ends, since times are read as doubles. */
function blockTimes({ columns, day }: Block): ChangedRange {
  const times = columns.find(({ name }) => name === 'ts')?.bytes
  if (!times) return { fromMs: day * DAY_MS, toMs: (day + 1) * DAY_MS }
  const view = new DataView(times.buffer, times.byteOffset, times.byteLength)
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let at = 0; at < times.byteLength; at += TIME_BYTES) {
    const ns = timeNsAt(view, at)
    if (ns < first) first = ns
    if (ns > last) last = ns
  }
  return { fromMs: Math.floor(first / NS_PER_MS) - 1, toMs: Math.ceil(last / NS_PER_MS) + 1 }
}
