import { type Formula, formulaValue, namesOf } from '@dendro/language/formula'

/** A Cell is what one query gave for one group: how many events, and the number made of them. */
export type Cell = { readonly count: number; readonly value: number | null }
/** Cells are those of a query by the id of the group, '' without groups; what has no events has no cell. */
export type Cells = ReadonlyMap<string, Cell>

/** A Part is one query of a monitor; `isAdded` says that no events count as 0, as for a count, and not as no number. */
export type Part = { readonly name: string; readonly isAdded: boolean; readonly isGrouped: boolean; readonly cells: Cells }

export type Values = ReadonlyMap<string, number>

/** A Judged is what is compared with the thresholds, and for changes and anomalies what it came from. */
export type Judged = { readonly value: number; readonly baseline?: number }

/** valuesOf is the watched number of each group that has events: that of the formula, and of the first query without one. */
export function valuesOf(parts: readonly Part[], formula: Formula | undefined): Values {
  if (!formula) {
    const cells = [...(parts[0]?.cells ?? [])]
    return new Map(cells.flatMap(([group, { count, value }]) => (count > 0 && value !== null ? [[group, value] as const] : [])))
  }
  const names = namesOf(formula)
  const needed = parts.filter(({ name }) => names.includes(name))
  const grouped = needed.filter(({ isGrouped }) => isGrouped)
  const seen = new Set(
    (grouped.length > 0 ? grouped : needed).flatMap(({ cells }) => [...cells].filter(([, { count }]) => count > 0).map(([group]) => group)),
  )
  const values = new Map<string, number>()
  for (const group of seen) {
    const value = formulaValue(formula, (name) => {
      const part = needed.find((one) => one.name === name)
      const cell = part?.cells.get(part.isGrouped ? group : '')
      return cell && cell.count > 0 ? (cell.value ?? undefined) : part?.isAdded ? 0 : undefined
    })
    if (value !== undefined) values.set(group, value)
  }
  return values
}

/**
 * changesOf compares with an earlier window. Where `isAdded`, a window without events counts as 0 as long as the other has some. A percentage
 * of nothing is infinite.
 */
export function changesOf(
  now: Values,
  then: Values,
  { isAdded, isPercentage }: { isAdded: boolean; isPercentage: boolean },
): Map<string, Judged> {
  const judged = new Map<string, Judged>()
  for (const group of new Set([...now.keys(), ...then.keys()])) {
    const current = now.get(group) ?? (isAdded ? 0 : undefined)
    const baseline = then.get(group) ?? (isAdded ? 0 : undefined)
    if (current === undefined || baseline === undefined) continue
    const difference = current - baseline
    if (isPercentage && baseline === 0 && current === 0) continue
    judged.set(group, { value: isPercentage ? (difference / baseline) * 100 : difference, baseline })
  }
  return judged
}

/** SCALE makes the median deviation of normally distributed values their standard deviation. */
const SCALE = 1.4826

/**
 * anomaliesOf says how many deviations each group lies from the median of earlier windows. Where those all say the same nothing is an anomaly, and
 * where there are none the group is not judged.
 */
export function anomaliesOf(now: Values, earlier: readonly Values[], { isAdded }: { isAdded: boolean }): Map<string, Judged> {
  const judged = new Map<string, Judged>()
  for (const [group, value] of now) {
    const numbers = earlier.flatMap((values) => values.get(group) ?? (isAdded ? [0] : []))
    if (numbers.length === 0) continue
    const middle = medianOf(numbers)
    const deviation = SCALE * medianOf(numbers.map((number) => Math.abs(number - middle)))
    judged.set(group, { value: deviation === 0 ? 0 : (value - middle) / deviation, baseline: middle })
  }
  return judged
}

export function medianOf(numbers: readonly number[]): number {
  const sorted = Float64Array.from(numbers).sort()
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

/** patternsOf are the patterns that came up and were not there before, or were there before and stayed away; nothing is said about a silent window. */
export function patternsOf(now: Cells, before: Cells, want: 'NEW' | 'VANISHED'): readonly string[] | undefined {
  if (now.size === 0) return undefined
  const [these, those] = want === 'NEW' ? [now, before] : [before, now]
  return [...these].filter(([pattern]) => !those.has(pattern)).map(([pattern]) => pattern)
}
