import type { Event } from '@dendro/api'

/** Folded are rows that repeat each other put together: `heads` are where each run of them begins, up to `reached`. */
export type Folded = { heads: readonly number[]; reached: number; first: Event | undefined; last: Event | undefined }

export const NOTHING_FOLDED: Folded = { heads: [], reached: 0, first: undefined, last: undefined }

const SHAPE_MAX = 300

/** shapeOf is what an event says without what varies from one to the next: numbers, ids, times. */
export function shapeOf({ message_kvs, metadata, '@raw': raw, '@status': status }: Event): string {
  const said = message_kvs.message ?? message_kvs.msg ?? raw ?? ''
  return `${metadata.service_id} ${status} ${said.slice(0, SHAPE_MAX).replaceAll(/[\w.:-]+/g, (word) => (/\d/.test(word) ? '#' : word))}`
}

/** foldFurther goes on where a fold has stopped, for as long as it may; events that came below go on, any others begin anew. */
export function foldFurther(before: Folded, events: readonly Event[], mayGoOn: () => boolean): Folded {
  const isSame = before.reached <= events.length && events[0] === before.first && events[before.reached - 1] === before.last
  const start = isSame ? before : NOTHING_FOLDED
  if (start.reached === events.length) return start
  const heads = [...start.heads]
  let reached = start.reached
  let shape = start.last && shapeOf(start.last)
  do {
    const event = events[reached]
    if (!event) break
    const next = shapeOf(event)
    if (next !== shape) heads.push(reached)
    shape = next
    reached += 1
  } while (reached < events.length && (reached % STRIDE !== 0 || mayGoOn()))
  return { heads, reached, first: events[0], last: events[reached - 1] }
}

/** STRIDE is how many events are looked at between two looks at the clock. */
const STRIDE = 64

/** Shown is which events have a row of their own, by their places among all that are loaded. */
export type Shown = {
  size: number
  indexAt(row: number): number
  /** rowOf is the row that shows an event, its own or that of its run. */
  rowOf(index: number): number
  /** timesAt is how many events a row stands for, or how many its run has where that is spread out below it. */
  timesAt(row: number): number
}

export const everyRow = (size: number): Shown => ({ size, indexAt: (row) => row, rowOf: (index) => index, timesAt: () => 1 })

/** foldedRows shows a row for every run; those in `spread`, by where they begin, are shown whole. */
export function foldedRows({ heads, reached }: Folded, spread: ReadonlySet<number>): Shown {
  const lengthOf = (run: number) => (heads[run + 1] ?? reached) - (heads[run] ?? reached)
  const rows =
    spread.size === 0
      ? heads
      : heads.flatMap((head, run) => (spread.has(head) ? Array.from({ length: lengthOf(run) }, (_, at) => head + at) : [head]))
  return {
    size: rows.length,
    indexAt: (row) => rows[row] ?? -1,
    rowOf: (index) => lastAtMost(rows, index),
    timesAt: (row) => {
      const index = rows[row] ?? -1
      const run = lastAtMost(heads, index)
      return heads[run] === index ? lengthOf(run) : 1
    },
  }
}

/** lastAtMost is the place of the last number that is not above another, in numbers that go up. */
export function lastAtMost(numbers: readonly number[], bound: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) <= bound) low = middle + 1
    else high = middle
  }
  return low - 1
}
