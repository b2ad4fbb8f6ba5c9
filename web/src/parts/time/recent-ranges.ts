import { presets, type Range } from './time-range.ts'

const KEY = 'dendro.ranges'
const RANGES_MAX = 5

/** The last ranges used in this browser, newest first, without presets. */
export function recentRanges(): Range[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isRange) : []
  } catch {
    return []
  }
}

function isRange(stored: unknown): stored is Range {
  if (typeof stored !== 'object' || stored === null) return false
  if ('words' in stored) return typeof stored.words === 'string'
  return 'fromMs' in stored && 'toMs' in stored && typeof stored.fromMs === 'number' && typeof stored.toMs === 'number'
}

export function rememberRange(range: Range): void {
  if ('words' in range && presets.some(({ words }) => words === range.words)) return
  const text = JSON.stringify(range)
  const others = recentRanges().filter((one) => JSON.stringify(one) !== text)
  localStorage.setItem(KEY, JSON.stringify([range, ...others].slice(0, RANGES_MAX)))
}
