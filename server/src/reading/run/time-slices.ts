import type { TimeBounds } from '../query.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SECOND_MS = 1_000
/** The lengths of slices into which the range of a total is divided. */
const LENGTHS_MS: readonly number[] = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS]
/** A range has at least so many of them, so that what is read anew at its ends is a small part. */
const SLICES_MIN = 12
const SLICES_MAX = 2_000
/** Every range of events that are read costs the store a plan. */
const OPEN_MAX = 3

/**
 * The length of the slices of a range that can be kept: those of a chart that lie on multiples of their length since 1970, so that the next chart has
 * the same ones, or those of a total, which has no slices of its own.
 */
export function sliceLengthMs({ fromMs, toMs }: TimeBounds, slices: number): number | undefined {
  const rangeMs = toMs - fromMs
  if (fromMs < 0 || rangeMs <= 0) return undefined
  if (slices === 1) return LENGTHS_MS.findLast((lengthMs) => rangeMs / lengthMs >= SLICES_MIN && rangeMs / lengthMs <= SLICES_MAX)
  const lengthMs = rangeMs / slices
  return slices <= SLICES_MAX && lengthMs >= SECOND_MS && Number.isInteger(lengthMs) && fromMs % lengthMs === 0 ? lengthMs : undefined
}

/** Slices are numbered since 1970. */
export const sliceBounds = (slice: number, lengthMs: number): TimeBounds => ({
  fromMs: slice * lengthMs,
  toMs: (slice + 1) * lengthMs,
})

/** The whole slices in a range. */
export function wholeSlices({ fromMs, toMs }: TimeBounds, lengthMs: number): readonly number[] {
  const first = Math.ceil(fromMs / lengthMs)
  return Array.from({ length: Math.max(0, Math.floor(toMs / lengthMs) - first) }, (_, index) => first + index)
}

/** Neighboring slices as ranges. */
export function rangesOf(slices: readonly number[], lengthMs: number): readonly TimeBounds[] {
  const ranges: TimeBounds[] = []
  for (const slice of slices) {
    const last = ranges.at(-1)
    const own = sliceBounds(slice, lengthMs)
    if (last?.toMs === own.fromMs) ranges[ranges.length - 1] = { fromMs: last.fromMs, toMs: own.toMs }
    else ranges.push(own)
  }
  return ranges
}

/** The rest of a range beside some slices. Undefined when it has too many pieces. */
export function openRanges({ fromMs, toMs }: TimeBounds, closed: readonly TimeBounds[]): readonly TimeBounds[] | undefined {
  const edges = [fromMs, ...closed.flatMap((range) => [range.fromMs, range.toMs]), toMs]
  const open = edges.flatMap((edge, index): TimeBounds[] => {
    const next = edges[index + 1]
    return index % 2 === 0 && next !== undefined && edge < next ? [{ fromMs: edge, toMs: next }] : []
  })
  return open.length > OPEN_MAX ? undefined : open
}
