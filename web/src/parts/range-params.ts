import type { Range } from './time-range.ts'

/** An AskedRange is a range as it stands in an address: words, or two moments; the default of the page when neither is there. */
export type RangeParams = { r?: string; f?: number; t?: number }

/** readAskedRange takes an address as it comes; what makes no sense is left out. */
export function readRangeParams({ r, f, t }: Record<string, unknown>): RangeParams {
  if (typeof f === 'number' && typeof t === 'number' && t > f) return { f, t }
  return typeof r === 'string' && r !== '' ? { r } : {}
}

export const rangeOf = ({ r, f, t }: RangeParams, otherwise: Range): Range =>
  f !== undefined && t !== undefined ? { fromMs: f, toMs: t } : r === undefined ? otherwise : { words: r }

export const rangeParamsOf = (range: Range): RangeParams => ('words' in range ? { r: range.words } : { f: range.fromMs, t: range.toMs })
