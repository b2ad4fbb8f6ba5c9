import { number, readParams, type SearchParamsOf, text } from '../shell/search-params.ts'
import type { Range } from './time-range.ts'

const schema = { r: text, f: number, t: number }

/** A range in search parameters: words, or two times; empty means the default of the page. */
export type RangeParams = SearchParamsOf<typeof schema>

/** Drops words beside two times, and times that are no range. */
export function readRangeParams(search: Record<string, unknown>): RangeParams {
  const { r, f, t } = readParams(schema, search)
  if (f !== undefined && t !== undefined && t > f) return { f, t }
  return r === undefined ? {} : { r }
}

export const rangeOf = ({ r, f, t }: RangeParams, otherwise: Range): Range =>
  f !== undefined && t !== undefined ? { fromMs: f, toMs: t } : r === undefined ? otherwise : { words: r }

export const rangeParamsOf = (range: Range): RangeParams => ('words' in range ? { r: range.words } : { f: range.fromMs, t: range.toMs })
