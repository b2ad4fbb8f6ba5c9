import { firstValues } from '../../../query/first-values.ts'
import { labelKeyOf } from './answers.ts'
import type { LabelSet } from './event-labels.ts'
import type { LogqlAggregation, LogqlGrouping } from './logql/tree.ts'
import { varianceOf } from './reduce-window.ts'
import type { LokiSeries } from './series.ts'

/** Aggregates series at each time: by labels into one value, or to the largest or smallest series. */
export function aggregateSeries({ name, parameter = 0, grouping }: LogqlAggregation, all: readonly LokiSeries[]): readonly LokiSeries[] {
  if (name === 'sort' || name === 'sort_desc') return sorted(all, name === 'sort' ? 1 : -1)
  const groups = Map.groupBy(all, ({ labels }) => labelKeyOf(groupLabels(labels, grouping)))
  if (name === 'topk' || name === 'bottomk') {
    return [...groups.values()].flatMap((members) => extremes(members, parameter, name === 'topk' ? 'highest' : 'lowest'))
  }
  return [...groups.values()].map((members) => ({
    labels: groupLabels(members[0]?.labels ?? new Map(), grouping),
    values: timesOf(members).map((index) => {
      const values = members.map((one) => one.values[index]).filter((value) => value !== undefined)
      return values.length === 0 ? undefined : reducers[name](values)
    }),
  }))
}

const timesOf = (members: readonly LokiSeries[]): number[] => [...(members[0]?.values.keys() ?? [])]

/** The labels of a group. Without a grouping there is one group without labels. */
export function groupLabels(labels: LabelSet, grouping: LogqlGrouping | undefined): LabelSet {
  if (!grouping) return new Map()
  return new Map([...labels].filter(([name, value]) => value !== '' && grouping.names.includes(name) !== grouping.isWithout))
}

type Reducer = (values: readonly number[]) => number
const total: Reducer = (values) => values.reduce((sum, value) => sum + value, 0)
const reducers: Readonly<Record<Exclude<LogqlAggregation['name'], 'topk' | 'bottomk' | 'sort' | 'sort_desc'>, Reducer>> = {
  sum: total,
  avg: (values) => total(values) / values.length,
  min: (values) => values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
  max: (values) => values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
  count: (values) => values.length,
  stddev: (values) => Math.sqrt(varianceOf(values)),
  stdvar: varianceOf,
}

/** Keeps the highest or lowest series at each time; ties are decided by their labels. */
function extremes(members: readonly LokiSeries[], count: number, order: 'highest' | 'lowest'): LokiSeries[] {
  const keys = members.map(({ labels }) => labelKeyOf(labels))
  return firstValues(members, count, order, (one, other) => ((keys[one] ?? '') < (keys[other] ?? '') ? -1 : 1))
}

/** Orders series by their first value. */
const sorted = (all: readonly LokiSeries[], direction: 1 | -1): readonly LokiSeries[] =>
  all.toSorted((one, other) => direction * ((one.values[0] ?? 0) - (other.values[0] ?? 0)))
