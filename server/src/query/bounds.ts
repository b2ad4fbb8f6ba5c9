import type { SearchRequest } from '@dendro/api'
import { parseTimeRange, refusal } from './query.ts'

/** A half-open time range: `fromMs` is inclusive, `toMs` is exclusive. */
export type TimeBounds = { readonly fromMs: number; readonly toMs: number }

type RangeRequest = Pick<SearchRequest, 'time_range' | 'from_ts' | 'to_ts'>

/** Reads the time range of a request. `otherwise` is the relative range to use when the request has none; undefined makes a range mandatory. */
export function boundsOf(request: RangeRequest, nowMs: number, otherwise: string | undefined): TimeBounds {
  const { time_range, from_ts, to_ts } = request
  if (from_ts === undefined && to_ts === undefined) {
    const phrase = time_range ?? otherwise
    if (phrase !== undefined) return parseTimeRange(phrase, nowMs)
    throw refusal('time_range', { code: 'MISSING_RANGE', message: 'give a relative range, or from_ts and to_ts' })
  }
  if (time_range !== undefined) {
    throw refusal('time_range', { code: 'CONFLICT', message: 'time_range or from_ts and to_ts, not both' })
  }
  if (from_ts === undefined || to_ts === undefined) {
    const field = from_ts === undefined ? 'to_ts' : 'from_ts'
    throw refusal(field, { code: 'MISSING_PAIR', message: 'from_ts and to_ts belong together: both or none' })
  }
  if (from_ts > to_ts) throw refusal('from_ts', { code: 'OUT_OF_RANGE', message: 'must not be later than to_ts' })
  return { fromMs: from_ts, toMs: to_ts }
}
