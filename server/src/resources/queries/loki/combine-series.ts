import { badRequest } from '../../../kernel/errors.ts'
import { labelKeyOf, recordOf } from './answers.ts'
import type { LabelSet } from './event-labels.ts'
import type { BinaryOperator, LogqlBinary } from './logql/tree.ts'
import type { Evaluated, LokiSeries } from './series.ts'

type Operation = Pick<LogqlBinary, 'operator' | 'isBool' | 'matching'>
type Values = LokiSeries['values']

/** Applies an operator to numbers and series. */
export function combine(operation: Operation, left: Evaluated, right: Evaluated): Evaluated {
  if (left.kind === 'number' && right.kind === 'number') {
    const value = compute({ ...operation, isBool: true }, left.value, right.value, left.value)
    return { kind: 'number', value: value ?? Number.NaN }
  }
  return {
    kind: 'series',
    series: combineSeries(operation, left, right).filter(({ values }) => values.some((value) => value !== undefined)),
  }
}

function combineSeries(operation: Operation, left: Evaluated, right: Evaluated): readonly LokiSeries[] {
  if (left.kind === 'series' && right.kind === 'series') {
    return isSetOperator(operation.operator)
      ? combineSets(operation, left.series, right.series)
      : matchOneToOne(operation, left.series, right.series)
  }
  if (right.kind === 'number' && left.kind === 'series') {
    return left.series.map(({ labels, values }) => ({
      labels,
      values: values.map((value) => compute(operation, value, right.value, value)),
    }))
  }
  if (left.kind === 'number' && right.kind === 'series') {
    return right.series.map(({ labels, values }) => ({
      labels,
      values: values.map((value) => compute(operation, left.value, value, value)),
    }))
  }
  return []
}

const isSetOperator = (operator: BinaryOperator): boolean => operator === 'and' || operator === 'or' || operator === 'unless'

/** `kept` is the value of a comparison that holds. */
function compute(
  { operator, isBool }: Operation,
  left: number | undefined,
  right: number | undefined,
  kept: number | undefined,
): number | undefined {
  if (left === undefined || right === undefined) return undefined
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '%':
      return left % right
    case '^':
      return left ** right
    default: {
      const holds = comparisons[operator]?.(left, right) ?? false
      return isBool ? Number(holds) : holds ? kept : undefined
    }
  }
}

const comparisons: Partial<Record<BinaryOperator, (left: number, right: number) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
}

/** The labels by which series of both sides are matched. */
function matchedLabels(labels: LabelSet, matching: Operation['matching']): LabelSet {
  if (!matching) return labels
  return new Map([...labels].filter(([name]) => matching.names.includes(name) !== matching.isIgnoring))
}

function matchOneToOne(operation: Operation, left: readonly LokiSeries[], right: readonly LokiSeries[]): LokiSeries[] {
  const others = byMatch(right, operation.matching)
  return [...byMatch(left, operation.matching)].flatMap(([key, { labels, values }]) => {
    const other = others.get(key)
    if (!other) return []
    const combined: Values = values.map((value, index) => compute(operation, value, other.values[index], value))
    return [{ labels: matchedLabels(labels, operation.matching), values: combined }]
  })
}

function byMatch(all: readonly LokiSeries[], matching: Operation['matching']): Map<string, LokiSeries> {
  const found = new Map<string, LokiSeries>()
  for (const series of all) {
    const labels = matchedLabels(series.labels, matching)
    const key = labelKeyOf(labels)
    if (found.has(key))
      throw badRequest(`several series of one side have the labels ${JSON.stringify(recordOf(labels))}; series are matched one to one`)
    found.set(key, series)
  }
  return found
}

function combineSets({ operator, matching }: Operation, left: readonly LokiSeries[], right: readonly LokiSeries[]): readonly LokiSeries[] {
  const keyOf = ({ labels }: LokiSeries): string => labelKeyOf(matchedLabels(labels, matching))
  const presentIn = (all: readonly LokiSeries[]): ((key: string, index: number) => boolean) => {
    const groups = Map.groupBy(all, keyOf)
    return (key, index) => groups.get(key)?.some(({ values }) => values[index] !== undefined) ?? false
  }
  const keep = (all: readonly LokiSeries[], isKept: (key: string, index: number) => boolean): LokiSeries[] =>
    all.map((series) => {
      const key = keyOf(series)
      return { labels: series.labels, values: series.values.map((value, index) => (isKept(key, index) ? value : undefined)) }
    })
  const [isLeft, isRight] = [presentIn(left), presentIn(right)]
  if (operator === 'and') return keep(left, isRight)
  if (operator === 'unless') return keep(left, (key, index) => !isRight(key, index))
  return joinEqual([...left, ...keep(right, (key, index) => !isLeft(key, index))])
}

/** Series of both sides with the same labels are one series. */
function joinEqual(all: readonly LokiSeries[]): LokiSeries[] {
  const joined = Map.groupBy(all, ({ labels }) => labelKeyOf(labels))
  return [...joined.values()].map((members) => ({
    labels: members[0]?.labels ?? new Map(),
    values: (members[0]?.values ?? []).map((_, index) => members.find(({ values }) => values[index] !== undefined)?.values[index]),
  }))
}
