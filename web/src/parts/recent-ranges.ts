import { presets, type Range } from './time-range.ts'

const KEY = 'dendro.ranges'
const KEPT_MAX = 5

/** recentRanges are the last ranges used in this browser, newest first, without presets. */
export function recentRanges(): Range[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isRange) : []
  } catch {
    return []
  }
}

function isRange(kept: unknown): kept is Range {
  if (typeof kept !== 'object' || kept === null) return false
  if ('words' in kept) return typeof kept.words === 'string'
  return 'fromMs' in kept && 'toMs' in kept && typeof kept.fromMs === 'number' && typeof kept.toMs === 'number'
}

export function rememberRange(range: Range): void {
  if ('words' in range && presets.some(({ words }) => words === range.words)) return
  const text = JSON.stringify(range)
  const others = recentRanges().filter((one) => JSON.stringify(one) !== text)
  localStorage.setItem(KEY, JSON.stringify([range, ...others].slice(0, KEPT_MAX)))
}
