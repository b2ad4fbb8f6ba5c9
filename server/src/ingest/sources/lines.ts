import { LINE_BYTES_MAX } from '../intake/arrivals.ts'

/** How much of a file is read at once. */
export const BATCH_BYTES = 4 * 2 ** 20

const LINE_FEED = 0x0a

/**
 * The end of the next batch in bytes that were read from a position: that of the last whole line. A line that fills all of them is taken in parts.
 * The last line of content that does not grow any more needs no end. 0 when there is nothing to take yet.
 */
export function endOfBatch(bytes: Uint8Array, isFinal: boolean): number {
  if (isFinal && bytes.length < BATCH_BYTES) return bytes.length
  const feed = bytes.lastIndexOf(LINE_FEED)
  if (feed >= 0) return feed + 1
  return bytes.length >= BATCH_BYTES ? bytes.length : 0
}

/** The lines of a batch. `inLine` when it begins within a line whose beginning is stored already: the rest of that line is left out. */
export function linesOfBatchFrom(bytes: Uint8Array, inLine: boolean): Uint8Array {
  const first = inLine ? bytes.indexOf(LINE_FEED) : -1
  if (inLine && first < 0) return NOTHING
  const lines = bytes.subarray(first + 1)
  // The store shortens a longer line and marks it, so that more of it is not needed.
  return endsInLine(bytes) && lines.indexOf(LINE_FEED) < 0 ? lines.subarray(0, LINE_BYTES_MAX + 1) : lines
}

/** Whether a batch ends within a line. */
export const endsInLine = (bytes: Uint8Array): boolean => bytes.length >= BATCH_BYTES && bytes.at(-1) !== LINE_FEED

/** Half of a batch, at the end of a line if it has one there; 0 when it cannot be divided. */
export function halfOf(bytes: Uint8Array): number {
  const middle = bytes.subarray(0, Math.ceil(bytes.length / 2))
  const before = middle.lastIndexOf(LINE_FEED) + 1
  if (before > 0) return before
  const after = bytes.indexOf(LINE_FEED, middle.length) + 1
  return after > 0 && after < bytes.length ? after : 0
}

export function countLines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines += 1
  return lines + (bytes.length > 0 && bytes.at(-1) !== LINE_FEED ? 1 : 0)
}

const NOTHING = new Uint8Array()
