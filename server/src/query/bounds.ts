import type { SearchAsk } from '@dendro/api'
import { parseTimeRange, refusal } from './query.ts'

/** Bounds of time are half-open: `fromMs` is inside, `toMs` is not. */
export type Bounds = { readonly fromMs: number; readonly toMs: number }

type RangeAsk = Pick<SearchAsk, 'time_range' | 'from_ts' | 'to_ts'>

/** boundsOf reads the range of a question; `otherwise` is the relative range that holds when it names none, without which it must name one. */
export function boundsOf(ask: RangeAsk, nowMs: number, otherwise: string | undefined): Bounds {
  const { time_range, from_ts, to_ts } = ask
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
