import type { SearchRequest } from '@dendro/api'
import { parseTimeRange, refusal } from './query.ts'

/** A half-open time range: `fromMs` is inclusive, `toMs` is exclusive. */
export type TimeBounds = { readonly fromMs: number; readonly toMs: number }

type RangeRequest = Pick<SearchRequest, 'time_range' | 'from_ts' | 'to_ts'>

/** The fields of a range as the caller wrote them, for what refuses them. */
export type RangeFields = { readonly range: string; readonly from: string; readonly to: string }

const FIELDS: RangeFields = { range: 'time_range', from: 'from_ts', to: 'to_ts' }

/** The fields of a range inside another object. */
export const rangeFieldsIn = (at: string): RangeFields => ({
  range: `${at}.${FIELDS.range}`,
  from: `${at}.${FIELDS.from}`,
  to: `${at}.${FIELDS.to}`,
})

/** The fields of a period to compare with. */
export const deltaFields: RangeFields = { range: 'delta_time_range', from: 'delta_from_ts', to: 'delta_to_ts' }

/** Reads the time range of a request. `otherwise` is the relative range to use when the request has none; undefined makes a range mandatory. */
export function boundsOf(request: RangeRequest, nowMs: number, otherwise: string | undefined, fields: RangeFields = FIELDS): TimeBounds {
  const { time_range, from_ts, to_ts } = request
  const both = `${lastOf(fields.from)} and ${lastOf(fields.to)}`
  if (from_ts === undefined && to_ts === undefined) {
    const phrase = time_range ?? otherwise
    if (phrase !== undefined) return parseTimeRange(phrase, nowMs, fields.range)
    throw refusal(fields.range, { code: 'MISSING_RANGE', message: `give a relative range, or ${both}` })
  }
  if (time_range !== undefined) {
    throw refusal(fields.range, { code: 'CONFLICT', message: `${lastOf(fields.range)} or ${both}, not both` })
  }
  if (from_ts === undefined || to_ts === undefined) {
    const field = from_ts === undefined ? fields.to : fields.from
    throw refusal(field, { code: 'MISSING_PAIR', message: `${both} belong together: both or none` })
  }
  if (from_ts > to_ts) throw refusal(fields.from, { code: 'OUT_OF_RANGE', message: `must not be later than ${lastOf(fields.to)}` })
  return { fromMs: from_ts, toMs: to_ts }
}

type Period = { range: string | undefined; from_ts: number | undefined; to_ts: number | undefined }

/** The period to compare with: the named one, or the equally long one before. */
export function earlierThan(
  { fromMs, toMs }: TimeBounds,
  { range, from_ts, to_ts }: Period,
  nowMs: number,
  fields: RangeFields,
): TimeBounds {
  if (range !== undefined) return parseTimeRange(range, nowMs, fields.range, 'its end')
  if (from_ts !== undefined || to_ts !== undefined) return boundsOf({ from_ts, to_ts }, nowMs, undefined, fields)
  return { fromMs: Math.max(0, fromMs - (toMs - fromMs)), toMs: fromMs }
}

const lastOf = (field: string): string => field.slice(field.lastIndexOf('.') + 1)
