import { type Formula, formulaValue } from '@dendro/language/formula'
import type { Warning } from '@dendro/language/warnings'
import { mapInSteps } from '../../../kernel/steps.ts'
import type { Quantiles, StatsGroup, StatsRow } from '../../../reading/query.ts'
import type { PlannedFormula, Reduction } from './plan-metrics.ts'

/** A value and the number of its events; null means no value. */
export type Point = { readonly count: number; readonly value: number | null; readonly quantiles?: Quantiles }

/** One group over all slices; the total has no group values. */
export type MetricLine = { readonly values: readonly (string | null)[]; readonly whole: Point; readonly slices: readonly Point[] }

/** The result of a query or a formula: the total, and its groups with the outermost level first. */
export type Measure = {
  readonly whole: MetricLine
  readonly groups: readonly string[]
  readonly levels: readonly (readonly MetricLine[])[]
  readonly isExact: boolean
  /** The value of a group without events. */
  readonly absent: 0 | null
  /** False if more groups exist than were read. */
  readonly isWhole: boolean
  /** Warnings about the query text and about the events that answered it. */
  readonly warnings?: readonly Warning[]
}

/** Builds a series from the statistics of one call. */
export function lineOf({ values, whole, slices }: StatsGroup, reduceTo: Reduction | undefined, isAdded: boolean): MetricLine {
  const points = pointsOf(slices)
  const total = pointOf(whole)
  if (reduceTo === undefined) return { values, whole: total, slices: points }
  const folded = fold(points, reduceTo, isAdded)
  return { values, whole: { count: total.count, value: folded }, slices: points }
}

/** Slices without events are often one object, and then one point. */
function pointsOf(slices: readonly StatsRow[]): Point[] {
  let [before, point] = [slices[0], slices[0] && pointOf(slices[0])]
  return slices.map((slice) => {
    if (slice !== before || !point) [before, point] = [slice, pointOf(slice)]
    return point
  })
}

function pointOf({ count, stats: [stat] }: StatsRow): Point {
  const read = typeof stat?.value === 'string' ? Number(stat.value) : (stat?.value ?? null)
  const value = read !== null && Number.isFinite(read) ? read : null
  return { count, value, ...(stat?.quantiles ? { quantiles: stat.quantiles } : {}) }
}

/** Reduces the slices to one value. Without events, a count or a sum is 0; other functions have no value. */
export function fold(points: readonly Point[], reduceTo: Reduction, isAdded: boolean): number | null {
  const numbers = points.flatMap(({ value }) => (value === null ? (isAdded ? [0] : []) : [value]))
  if (numbers.length === 0) return null
  const sum = () => numbers.reduce((total, number) => total + number, 0)
  switch (reduceTo) {
    case 'sum':
      return sum()
    case 'avg':
      return sum() / numbers.length
    case 'min':
      return numbers.reduce((least, number) => Math.min(least, number))
    case 'max':
      return numbers.reduce((most, number) => Math.max(most, number))
  }
}

/** Keeps the largest of the innermost groups, and the groups around them. */
export function withLargest(measure: Measure, limit: number): Measure {
  const leaves = measure.levels.at(-1) ?? []
  if (leaves.length <= limit) return measure
  const kept = leaves.slice(0, limit)
  const levels = measure.levels.map((level, depth) => {
    const names = new Set(kept.map(({ values }) => JSON.stringify(values.slice(0, depth + 1))))
    return level.filter(({ values }) => names.has(JSON.stringify(values)))
  })
  return { ...measure, levels }
}

/** Computes a formula for the total, for each slice, and for the groups that all its grouped queries share. */
export async function combine({ formula, tree, names }: PlannedFormula, measures: ReadonlyMap<string, Measure>): Promise<Measure> {
  const needed = names.flatMap((name): [string, Measure][] => {
    const measure = measures.get(name)
    return measure ? [[name, measure]] : []
  })
  const reduceTo = formula.aggregation?.reduce_to
  const grouped = needed.filter(([, { groups }]) => groups.length > 0)
  const groups = grouped[0]?.[1].groups ?? []
  const levels: (readonly MetricLine[])[] = []
  for (const depth of groups.keys()) {
    const byName = grouped.map(([, { levels: all }]) => new Map((all[depth] ?? []).map((line) => [JSON.stringify(line.values), line])))
    const [first, ...rest] = byName
    const shared = [...(first?.keys() ?? [])].filter((key) => rest.every((lines) => lines.has(key)))
    const lineFor = (key: string, name: string, measure: Measure): MetricLine =>
      byName[grouped.findIndex(([one]) => one === name)]?.get(key) ?? measure.whole
    const lines = await mapInSteps(shared, (key) =>
      combined(
        tree,
        reduceTo,
        JSON.parse(key),
        needed.map(([name, measure]) => [name, lineFor(key, name, measure)]),
      ),
    )
    levels.push(lines.sort((a, b) => (b.whole.value ?? Number.NEGATIVE_INFINITY) - (a.whole.value ?? Number.NEGATIVE_INFINITY)))
  }
  const whole = combined(
    tree,
    reduceTo,
    [],
    needed.map(([name, measure]) => [name, measure.whole]),
  )
  return { whole, groups, levels, isExact: needed.every(([, { isExact, isWhole }]) => isExact && isWhole), absent: null, isWhole: true }
}

type NamedMeasures = readonly (readonly [name: string, line: MetricLine])[]

function combined(tree: Formula, reduceTo: Reduction | undefined, values: MetricLine['values'], lines: NamedMeasures): MetricLine {
  const at = (pick: (line: MetricLine) => Point | undefined): Point => {
    const points = new Map(lines.map(([name, line]) => [name, pick(line)]))
    const count = [...points.values()].reduce((total, point) => total + (point?.count ?? 0), 0)
    return { count, value: formulaValue(tree, (name) => points.get(name)?.value ?? undefined) ?? null }
  }
  const slices = (lines[0]?.[1].slices ?? []).map((_, index) => at((line) => line.slices[index]))
  const whole = at((line) => line.whole)
  return { values, whole: reduceTo ? { count: whole.count, value: fold(slices, reduceTo, false) } : whole, slices }
}
