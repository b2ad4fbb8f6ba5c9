import { type Formula, formulaValue, namesOf } from '@dendro/language/formula'

/** The result of one query for one group: the number of events, the aggregated value, and for spend what it rests on. */
export type GroupMeasure = { readonly count: number; readonly value: number | null; readonly evidence?: string }
/** The results of a query by group id ('' without groups). Groups without events are absent. */
export type GroupMeasures = ReadonlyMap<string, GroupMeasure>

/** The results of one query of a monitor. With `isAdded`, no events mean the value 0 (as for a count); otherwise they mean no value. */
export type QueryMeasures = {
  readonly name: string
  readonly zeroWithoutEvents: boolean
  readonly isGrouped: boolean
  readonly cells: GroupMeasures
}

export type GroupNumbers = ReadonlyMap<string, number>

/** The value that is compared with the thresholds, and for changes and anomalies the baseline it was compared with. */
export type ComparedValue = { readonly value: number; readonly baseline?: number; readonly evidence?: string }

/** Computes the value of each group that has events: the formula, or the first query without a formula. */
export function valuesOf(parts: readonly QueryMeasures[], formula: Formula | undefined): GroupNumbers {
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
      return cell && cell.count > 0 ? (cell.value ?? undefined) : part?.zeroWithoutEvents ? 0 : undefined
    })
    if (value !== undefined) values.set(group, value)
  }
  return values
}

/**
 * Compares with an earlier window. With `isAdded`, a window without events counts as 0 as long as the other window has events. A percentage
 * of 0 is infinite.
 */
export function changesOf(
  now: GroupNumbers,
  then: GroupNumbers,
  { zeroWithoutEvents, isPercentage }: { zeroWithoutEvents: boolean; isPercentage: boolean },
): Map<string, ComparedValue> {
  const compared = new Map<string, ComparedValue>()
  for (const group of new Set([...now.keys(), ...then.keys()])) {
    const current = now.get(group) ?? (zeroWithoutEvents ? 0 : undefined)
    const baseline = then.get(group) ?? (zeroWithoutEvents ? 0 : undefined)
    if (current === undefined || baseline === undefined) continue
    const difference = current - baseline
    if (isPercentage && baseline === 0 && current === 0) continue
    compared.set(group, { value: isPercentage ? (difference / baseline) * 100 : difference, baseline })
  }
  return compared
}

/** Scales the median absolute deviation to the standard deviation of a normal distribution. */
const SCALE = 1.4826

/**
 * Computes how many deviations each group lies from the median of earlier windows. If all earlier values are equal, nothing is an anomaly;
 * a group without earlier values is not evaluated.
 */
export function anomaliesOf(
  now: GroupNumbers,
  earlier: readonly GroupNumbers[],
  { zeroWithoutEvents }: { zeroWithoutEvents: boolean },
): Map<string, ComparedValue> {
  const compared = new Map<string, ComparedValue>()
  for (const [group, value] of now) {
    const numbers = earlier.flatMap((values) => values.get(group) ?? (zeroWithoutEvents ? [0] : []))
    if (numbers.length === 0) continue
    const middle = medianOf(numbers)
    const deviation = SCALE * medianOf(numbers.map((number) => Math.abs(number - middle)))
    compared.set(group, { value: deviation === 0 ? 0 : (value - middle) / deviation, baseline: middle })
  }
  return compared
}

export function medianOf(numbers: readonly number[]): number {
  const sorted = Float64Array.from(numbers).sort()
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

/** The group of events without a message, which have no pattern. */
export const NO_PATTERN = 'null'

/** Returns the patterns that are new, or those that vanished; undefined when the window has no events. */
export function patternsOf(now: GroupMeasures, before: GroupMeasures, want: 'NEW' | 'VANISHED'): readonly string[] | undefined {
  if (now.size === 0) return undefined
  const [these, those] = want === 'NEW' ? [now, before] : [before, now]
  return [...these].filter(([pattern]) => pattern !== NO_PATTERN && !those.has(pattern)).map(([pattern]) => pattern)
}
