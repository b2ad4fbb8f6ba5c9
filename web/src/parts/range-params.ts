import type { Range } from './time-range.ts'

/** RangeParams are a range in search parameters: words, or two times; empty means the default of the page. */
export type RangeParams = { r?: string; f?: number; t?: number }

/** readRangeParams drops invalid values. */
export function readRangeParams({ r, f, t }: Record<string, unknown>): RangeParams {
  if (typeof f === 'number' && typeof t === 'number' && t > f) return { f, t }
  return typeof r === 'string' && r !== '' ? { r } : {}
}

export const rangeOf = ({ r, f, t }: RangeParams, otherwise: Range): Range =>
  f !== undefined && t !== undefined ? { fromMs: f, toMs: t } : r === undefined ? otherwise : { words: r }

export const rangeParamsOf = (range: Range): RangeParams => ('words' in range ? { r: range.words } : { f: range.fromMs, t: range.toMs })
