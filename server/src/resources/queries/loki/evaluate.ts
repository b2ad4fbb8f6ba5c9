import { badRequest } from '../../../kernel/errors.ts'
import { aggregateSeries } from './aggregate-series.ts'
import { combine } from './combine-series.ts'
import type { LogqlAggregation, LogqlGrouping, LogqlMetric } from './logql/tree.ts'
import type { LokiCaller } from './loki-query.ts'
import { aggregateRange } from './range-aggregation.ts'
import type { Evaluated, EvaluationTimes, LokiSeries } from './series.ts'

/** Evaluates a metric query at all of its times. `named` are the labels that the surrounding parts of the query name. */
export async function evaluate(
  caller: LokiCaller,
  expression: LogqlMetric,
  times: EvaluationTimes,
  named: readonly string[] = [],
): Promise<Evaluated> {
  switch (expression.kind) {
    case 'number':
      return { kind: 'number', value: expression.value }
    case 'vector':
      return { kind: 'series', series: [{ labels: new Map(), values: Array<number>(times.count).fill(expression.value) }] }
    case 'range':
      return { kind: 'series', series: await aggregateRange(caller, expression, times, { sufficient: undefined, named }) }
    case 'aggregation': {
      const { of, grouping } = expression
      const inner = grouping && !grouping.isWithout ? grouping.names : grouping ? named : []
      const found =
        of.kind === 'range'
          ? await aggregateRange(caller, of, times, { sufficient: sufficientLabels(expression), named: inner })
          : seriesOf(await evaluate(caller, of, times, inner))
      return { kind: 'series', series: aggregateSeries(expression, found) }
    }
    case 'binary': {
      const inner = [...named, ...(expression.matching?.names ?? [])]
      const left = await evaluate(caller, expression.left, times, inner)
      const right = await evaluate(caller, expression.right, times, inner)
      return combine(expression, left, right)
    }
  }
}

function seriesOf(found: Evaluated): readonly LokiSeries[] {
  if (found.kind === 'series') return found.series
  throw badRequest('an aggregation needs series, not a number')
}

const NO_LABELS: LogqlGrouping = { isWithout: false, names: [] }

/** A sum needs only the labels of its grouping. */
const sufficientLabels = ({ name, grouping }: LogqlAggregation): LogqlGrouping | undefined =>
  name === 'sum' ? (grouping ?? NO_LABELS) : undefined
