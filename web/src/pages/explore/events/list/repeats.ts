import type { Event } from '@dendro/api'

/** Groups repeated neighbors: `runStarts` are the first indexes of the runs among the first `reached` events. */
export type FoldProgress = { runStarts: readonly number[]; reached: number; first: Event | undefined; last: Event | undefined }

export const EMPTY_FOLD: FoldProgress = { runStarts: [], reached: 0, first: undefined, last: undefined }

const COMPARED_CHARS = 300

/** The message of an event without its numbers, ids and times. Events with equal keys repeat each other. */
export function repeatKeyOf({ message_kvs, metadata, '@raw': raw, '@status': status }: Event): string {
  const message = message_kvs.message ?? message_kvs.msg ?? raw ?? ''
  return `${metadata.service_id} ${status} ${message.slice(0, COMPARED_CHARS).replaceAll(/[\w.:-]+/g, (word) => (/\d/.test(word) ? '#' : word))}`
}

/** Folds on for as long as it has time. Appended events continue the fold, any other change restarts it. */
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

/** How many events are processed between two checks of the clock. */
const STRIDE = 64

/** Maps rows to indexes of loaded events. */
export type RowMap = {
  size: number
  indexAt(row: number): number
  /** The row of an event, or the row of its collapsed run. */
  rowOf(index: number): number
  /** The length of the run that begins at a row, else 1. */
  repeatsAt(row: number): number
}

export const unfoldedRows = (size: number): RowMap => ({ size, indexAt: (row) => row, rowOf: (index) => index, repeatsAt: () => 1 })

/** foldedRows has one row per run; the runs that begin at an index in `expanded` have all rows. */
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

/** The index of the last number in an ascending list that does not exceed the bound. */
export function lastIndexAtMost(numbers: readonly number[], bound: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= bound) low = middle + 1
    else high = middle
  }
  return low - 1
}
