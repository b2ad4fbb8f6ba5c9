import { bytes, compact, count, span } from './numbers.ts'

/** The formats of chart values. */
export const units = ['number', 'bytes', 'milliseconds', 'seconds', 'percent'] as const
export type Unit = (typeof units)[number]

const number = (value: number): string => (Math.abs(value) >= 100_000 ? compact(value) : count(Math.round(value * 1000) / 1000))

const texts: Record<Unit, (value: number) => string> = {
  number,
  bytes: (value) => signed(value, bytes),
  milliseconds: (value) => signed(value, length),
  seconds: (value) => signed(value * 1_000, length),
  percent: (value) => `${number(Math.round(value * 10) / 10)} %`,
}

/** Formats a value with its unit. */
export const unitText = (unit: Unit): ((value: number) => string) => texts[unit]

const signed = (value: number, text: (size: number) => string): string => (value < 0 ? `−${text(-value)}` : text(value))
const length = (ms: number): string => (ms > 0 && ms < 10 ? `${number(Math.round(ms * 100) / 100)} ms` : span(ms))

type Measure = { select: readonly string[]; formula: string | undefined }

/** unitOf guesses the unit: from the last word of a key, or from a factor of 100 in a formula. */
export function unitOf({ select, formula }: Measure): Unit {
  if (formula !== undefined) return /\*\s*100(?:\.0*)?\s*\)*$/.test(formula.trim()) ? 'percent' : 'number'
  const found = /^\s*(?:(\w+)\s*\()?\s*"?([\w.@-]+)"?/.exec(select[0] ?? '')
  const [, name = '', key = ''] = found ?? []
  // A count has no unit, whatever its field measures.
  if (/^(count|uniq|count_distinct|rate)/i.test(name)) return 'number'
  if (/(^|[._])(bytes|size)$/i.test(key)) return 'bytes'
  if (/(^|[._])(ms|millis|milliseconds)$/i.test(key) || /Ms$/.test(key)) return 'milliseconds'
  if (/(^|[._])(s|sec|seconds)$/i.test(key)) return 'seconds'
  return /(^|[._])(percent|pct)$/i.test(key) ? 'percent' : 'number'
}
