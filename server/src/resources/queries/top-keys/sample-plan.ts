import type { TimeBounds } from '../../../reading/query.ts'

/** How many events the sample of a query has, and how many each dataset has at least, so that a busy one does not hide the keys of the others. */
export const SAMPLE_EVENTS = 512
const SAMPLE_EVENTS_MIN = 48
/** Reading neighbors costs less than reading single events. */
const EVENTS_PER_READ = 32

/** The number of events to sample of one dataset: in proportion to its share of all. */
export function sampleSize(count: number, all: number): number {
  if (all <= SAMPLE_EVENTS) return count
  return Math.min(count, Math.max(SAMPLE_EVENTS_MIN, Math.round((SAMPLE_EVENTS * count) / all)))
}

/** One read of a sample: the oldest events of a part of the range. */
export type SampleRead = { readonly bounds: TimeBounds; readonly limit: number }

/**
 * Divides a time range into parts with about equally many events, and reads as many of each. `counts` are the events in equal slices of the
 * range; within a slice, events count as evenly distributed.
 */
export function sampleReads(bounds: TimeBounds, counts: readonly number[], size: number): SampleRead[] {
  const reads = Math.max(1, Math.ceil(size / EVENTS_PER_READ))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const edges = Array.from({ length: reads + 1 }, (_, at) => timeAt(bounds, counts, (all * at) / reads))
  edges[0] = bounds.fromMs
  edges[reads] = bounds.toMs
  const found: { bounds: TimeBounds; limit: number }[] = []
  let limit = 0
  for (let at = 0; at < reads; at += 1) {
    const [fromMs, toMs] = [edges[at] ?? bounds.fromMs, edges[at + 1] ?? bounds.toMs]
    limit += Math.round((size * (at + 1)) / reads) - Math.round((size * at) / reads)
    // Many events have the same time: those of several parts are read at once.
    if (fromMs >= toMs) continue
    found.push({ bounds: { fromMs, toMs }, limit })
    limit = 0
  }
  const last = found.at(-1)
  if (last) last.limit += limit
  return found
}

/** The time before which this many events lie. */
function timeAt({ fromMs, toMs }: TimeBounds, counts: readonly number[], events: number): number {
  const widthMs = (toMs - fromMs) / counts.length
  let before = 0
  for (const [at, count] of counts.entries()) {
    if (count > 0 && before + count > events) return Math.round(fromMs + widthMs * (at + (events - before) / count))
    before += count
  }
  return toMs
}
