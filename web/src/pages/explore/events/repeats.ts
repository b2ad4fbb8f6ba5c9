import type { Event } from '@dendro/api'

/** Folded are rows that repeat each other put together: `heads` are where each run of them begins, up to `reached`. */
export type FoldProgress = { runStarts: readonly number[]; reached: number; first: Event | undefined; last: Event | undefined }

export const EMPTY_FOLD: FoldProgress = { runStarts: [], reached: 0, first: undefined, last: undefined }

const COMPARED_CHARS = 300

/** shapeOf is what an event says without what varies from one to the next: numbers, ids, times. */
export function repeatKeyOf({ message_kvs, metadata, '@raw': raw, '@status': status }: Event): string {
  const message = message_kvs.message ?? message_kvs.msg ?? raw ?? ''
  return `${metadata.service_id} ${status} ${message.slice(0, COMPARED_CHARS).replaceAll(/[\w.:-]+/g, (word) => (/\d/.test(word) ? '#' : word))}`
}

/** foldFurther goes on where a fold has stopped, for as long as it may; events that came below go on, any others begin anew. */
export function continueFold(before: FoldProgress, events: readonly Event[], hasTime: () => boolean): FoldProgress {
  const isSame = before.reached <= events.length && events[0] === before.first && events[before.reached - 1] === before.last
  const start = isSame ? before : EMPTY_FOLD
  if (start.reached === events.length) return start
  const runStarts = [...start.runStarts]
  let reached = start.reached
  let repeatKey = start.last && repeatKeyOf(start.last)
  do {
    const event = events[reached]
    if (!event) break
    const next = repeatKeyOf(event)
    if (next !== repeatKey) runStarts.push(reached)
    repeatKey = next
    reached += 1
  } while (reached < events.length && (reached % STRIDE !== 0 || hasTime()))
  return { runStarts, reached, first: events[0], last: events[reached - 1] }
}

/** STRIDE is how many events are looked at between two looks at the clock. */
const STRIDE = 64

/** Shown is which events have a row of their own, by their places among all that are loaded. */
export type RowMap = {
  size: number
  indexAt(row: number): number
  /** rowOf is the row that shows an event, its own or that of its run. */
  rowOf(index: number): number
  /** timesAt is how many events a row stands for, or how many its run has where that is spread out below it. */
  repeatsAt(row: number): number
}

export const unfoldedRows = (size: number): RowMap => ({ size, indexAt: (row) => row, rowOf: (index) => index, repeatsAt: () => 1 })

/** foldedRows shows a row for every run; those in `spread`, by where they begin, are shown whole. */
export function foldedRows({ runStarts, reached }: FoldProgress, expanded: ReadonlySet<number>): RowMap {
  const lengthOf = (run: number) => (runStarts[run + 1] ?? reached) - (runStarts[run] ?? reached)
  const rows =
    expanded.size === 0
      ? runStarts
      : runStarts.flatMap((runStart, run) =>
          expanded.has(runStart) ? Array.from({ length: lengthOf(run) }, (_, at) => runStart + at) : [runStart],
        )
  return {
    size: rows.length,
    indexAt: (row) => rows[row] ?? -1,
    rowOf: (index) => lastIndexAtMost(rows, index),
    repeatsAt: (row) => {
      const index = rows[row] ?? -1
      const run = lastIndexAtMost(runStarts, index)
      return runStarts[run] === index ? lengthOf(run) : 1
    },
  }
}

/** lastAtMost is the place of the last number that is not above another, in numbers that go up. */
export function lastIndexAtMost(numbers: readonly number[], bound: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= bound) low = middle + 1
    else high = middle
  }
  return low - 1
}
