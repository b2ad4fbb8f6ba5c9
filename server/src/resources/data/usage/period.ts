import { boundsOf, deltaFields, earlierThan } from '../../../query/bounds.ts'
import type { TimeBounds } from '../../../reading/query.ts'

/** Full minutes, cut into equal slices; exact if slices also begin on full minutes and nothing was shifted. */
export type Period = TimeBounds & { slices: number; isExact: boolean }

export type UsageRangeRequest = { time_range?: string | undefined; from_ts?: number | undefined; to_ts?: number | undefined }
export type DeltaRangeRequest = {
  delta_time_range?: string | undefined
  delta_from_ts?: number | undefined
  delta_to_ts?: number | undefined
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const SLICES_MAX = 720
/** The last minute in which usage can be counted. */
const LAST_MS = Math.floor((2 ** 32 - 1) / 60) * MINUTE_MS

/** The number of slices of a range: minutes up to half a day, then 20 minutes, at most 720. */
export function slicesOver({ fromMs, toMs }: TimeBounds): number {
  const widthMs = toMs - fromMs
  return atLeastOne(Math.min(SLICES_MAX, widthMs / (widthMs <= 12 * HOUR_MS ? MINUTE_MS : 20 * MINUTE_MS)))
}

/** The number of slices of a range for each dataset: minutes, hours, days or months, whichever are few. */
export function logSlicesOver({ fromMs, toMs }: TimeBounds): number {
  const widthMs = toMs - fromMs
  const steps = [
    [2 * HOUR_MS, MINUTE_MS],
    [3 * DAY_MS, HOUR_MS],
    [92 * DAY_MS, DAY_MS],
    [Number.POSITIVE_INFINITY, 30 * DAY_MS],
  ] as const
  const step = steps.find(([upToMs]) => widthMs <= upToMs)?.[1] ?? DAY_MS
  return atLeastOne(Math.min(SLICES_MAX, widthMs / step))
}

const atLeastOne = (slices: number): number => Math.max(1, Math.round(slices))

/**
 * Aligns a range with full minutes. Both ends move forward when the range is some minutes long, as a relative one always is, so that 20 minutes stay 20
 * slices; otherwise they move apart.
 */
export function periodOf(
  request: UsageRangeRequest,
  nowMs: number,
  { slices, slicesFor }: { slices: number | undefined; slicesFor: (bounds: TimeBounds) => number },
): Period {
  const bounds = inMinutes(boundsOf(request, nowMs, 'Last 1 day'), request.from_ts === undefined)
  const count = slices ?? slicesFor(bounds)
  const isMoved = request.from_ts !== undefined && (request.from_ts !== bounds.fromMs || request.to_ts !== bounds.toMs)
  return { ...bounds, slices: count, isExact: !isMoved && (bounds.toMs - bounds.fromMs) % (count * MINUTE_MS) === 0 }
}

/** The period to compare with, in full minutes; the one just before consists of them as the period itself does. */
export function earlierOf(bounds: TimeBounds, request: DeltaRangeRequest, nowMs: number): TimeBounds {
  const { delta_time_range: range, delta_from_ts: from_ts, delta_to_ts: to_ts } = request
  const earlier = earlierThan(bounds, { range, from_ts, to_ts }, nowMs, deltaFields)
  return range === undefined && from_ts === undefined ? earlier : inMinutes(earlier, range !== undefined)
}

function inMinutes({ fromMs, toMs }: TimeBounds, isRelative: boolean): TimeBounds {
  const isKept = isRelative || (toMs > fromMs && (toMs - fromMs) % MINUTE_MS === 0)
  const [from, to] = [(isKept ? Math.ceil : Math.floor)(fromMs / MINUTE_MS) * MINUTE_MS, Math.ceil(toMs / MINUTE_MS) * MINUTE_MS]
  return { fromMs: Math.min(from, LAST_MS), toMs: Math.min(to, LAST_MS) }
}
