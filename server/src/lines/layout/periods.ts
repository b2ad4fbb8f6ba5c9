import { Recent } from '../../kernel/recent.ts'

export const LONGEST_PERIOD_S = 86_400

/**
 * Rows of a dataset are sorted by pattern within periods of time (table.ts). A period should hold some 25,000 rows at any volume: with fewer, rows of one
 * pattern are too few to compress well, with more, the newest events are spread over too many granules. So the length of the periods follows the volume of
 * the dataset.
 */
export const periodLengths: readonly number[] = [LONGEST_PERIOD_S, 21_600, 7_200, 1_800, 600, 120, 30, 10, 2]

/** Stands for rows that are sorted by time alone, without periods. */
export const NO_PERIOD = 0

const ROWS_MAX = 50_000
/** A change of volume by less than this factor changes no length. */
const TOLERANCE = 2.5
const MINUTE_S = 60

/** The length for a dataset with so many rows per minute of their own time. Keeps the present length while it fits roughly. */
export function periodFor(rowsPerMinute: number, present: number | undefined): number {
  const rowsIn = (periodS: number) => (rowsPerMinute * periodS) / MINUTE_S
  const longest = (rowsMax: number) => periodLengths.find((periodS) => rowsIn(periodS) <= rowsMax) ?? (periodLengths.at(-1) as number)
  if (present === undefined || present === NO_PERIOD) return longest(ROWS_MAX)
  const isTooLong = longest(ROWS_MAX * TOLERANCE) < present
  const isTooShort = longest(ROWS_MAX / TOLERANCE) > present
  return isTooLong || isTooShort ? longest(ROWS_MAX) : present
}

/** Times of some of the rows of a post, each for `weight` rows. */
export type SampledTimes = { readonly timesMs: readonly number[]; readonly weight: number }

/** After so many rows, or rows in so many minutes, the volume of a dataset is known. */
const KNOWN_ROWS = 20_000
const KNOWN_MINUTES = 240
const DATASETS_MAX = 4_096
const MINUTE_MS = 60_000

/** Chooses the lengths of periods by the volume of each dataset. What it has counted is lost with the process, and counted again. */
export class PeriodChoice {
  readonly #counted = new Recent<string, { periodS: number; rows: number; perMinute: Map<number, number> }>(DATASETS_MAX)

  /** The length for the next rows of a dataset, whose last known length is `present`. */
  next(logId: string, present: number | undefined, { timesMs, weight }: SampledTimes): number {
    const first = present === undefined || present === NO_PERIOD ? LONGEST_PERIOD_S : present
    const counted = this.#counted.of(logId, () => ({ periodS: first, rows: 0, perMinute: new Map<number, number>() }))
    for (const ms of timesMs) {
      const minute = Math.floor(ms / MINUTE_MS)
      counted.perMinute.set(minute, (counted.perMinute.get(minute) ?? 0) + weight)
      counted.rows += weight
    }
    if (counted.rows >= KNOWN_ROWS || counted.perMinute.size >= KNOWN_MINUTES) {
      counted.periodS = periodFor(densityOf([...counted.perMinute.values()]), counted.periodS)
      counted.rows = 0
      counted.perMinute.clear()
    }
    return counted.periodS
  }
}

/** How many rows the minute of a row has on average, so that a few late rows hardly count. */
export function densityOf(rowsOfMinutes: readonly number[]): number {
  const all = rowsOfMinutes.reduce((sum, rows) => sum + rows, 0)
  return all === 0 ? 0 : rowsOfMinutes.reduce((sum, rows) => sum + rows * rows, 0) / all
}
