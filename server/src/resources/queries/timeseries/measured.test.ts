import type { MetricQuery } from '@dendro/api'
import { describe, expect, test } from 'vitest'
import { combine, fold, type Measure, type MetricLine, type Point } from './measured.ts'
import { planMetrics } from './plan-metrics.ts'

const query = (name: string, more: Partial<MetricQuery> = {}): MetricQuery => ({
  name,
  select: ['count(*)'],
  from_expr: '*',
  where: '',
  ...more,
})

const point = (value: number | null): Point => ({ count: value ?? 0, value })
const line = (values: MetricLine['values'], whole: number | null, slices: (number | null)[]): MetricLine => ({
  values,
  whole: point(whole),
  slices: slices.map(point),
})
const measure = (whole: MetricLine, levels: MetricLine[][] = [], groups: string[] = []): Measure => ({
  whole,
  groups,
  levels,
  isExact: true,
  absent: null,
  isWhole: true,
})

const formulaOf = (expression: string, names: string[], groups: string[] = []) => {
  const { formulas } = planMetrics(
    names.map((name) => query(name, { groups })),
    [{ name: 'f', expression }],
  )
  const [formula] = formulas
  if (!formula) throw new Error('no formula')
  return formula
}

describe('a formula', () => {
  test('is computed for the whole and for each slice; what cannot be computed has no value', async () => {
    const measures = new Map([
      ['errors', measure(line([], 6, [4, 2, 0]))],
      ['total', measure(line([], 12, [8, 4, 0]))],
    ])
    expect((await combine(formulaOf('errors / total * 100', ['errors', 'total']), measures)).whole).toEqual({
      values: [],
      whole: { count: 18, value: 50 },
      slices: [
        { count: 12, value: 50 },
        { count: 6, value: 50 },
        { count: 0, value: null },
      ],
    })
  })

  test('is computed for the groups that all its queries have, the largest first; a query without groups applies to each', async () => {
    const one = measure(line([], 9, [9]), [[line(['a'], 5, [5]), line(['b'], 3, [3]), line([null], 1, [1])]], ['k'])
    const two = measure(line([], 9, [9]), [[line([null], 8, [8]), line(['b'], 1, [1])]], ['k'])
    const all = new Map([
      ['one', one],
      ['two', two],
      ['ten', measure(line([], 10, [10]))],
    ])
    const { levels, groups } = await combine({ ...formulaOf('one + two', ['one', 'two']) }, all)
    expect(groups).toEqual(['k'])
    expect(levels[0]?.map(({ values, whole }) => [values, whole.value])).toEqual([
      [[null], 9],
      [['b'], 4],
    ])
    expect((await combine(formulaOf('one * ten', ['one', 'ten']), all)).levels[0]?.map(({ whole }) => whole.value)).toEqual([50, 30, 10])
  })
})

test('slices are reduced to one number; without events a count is 0 and a mean is left out', () => {
  const points = [point(4), point(null), point(2)]
  expect((['sum', 'avg', 'min', 'max'] as const).map((reduceTo) => fold(points, reduceTo, true))).toEqual([6, 2, 0, 4])
  expect((['sum', 'avg', 'min', 'max'] as const).map((reduceTo) => fold(points, reduceTo, false))).toEqual([6, 3, 2, 4])
  expect(fold([point(null)], 'avg', false)).toBeNull()
})

describe('queries', () => {
  test('measure an aggregate as it is, and a key by its time function, folded', () => {
    const { queries } = planMetrics([
      query('a', { select: ['p95(ms)'] }),
      query('b', { select: ['"odd ""key"'] }),
      query('c', { select: ['ms'], aggregation: [{ time: 'median', reduce_to: 'max' }] }),
    ])
    expect(queries.map(({ call, reduceTo }) => [call.call, reduceTo])).toEqual([
      [{ name: 'percentile', key: 'ms', percent: 95 }, undefined],
      [{ name: 'sum', key: 'odd "key' }, 'avg'],
      [{ name: 'percentile', key: 'ms', percent: 50 }, 'max'],
    ])
  })

  const refused = (queries: MetricQuery[], expression?: string) => {
    try {
      planMetrics(queries, expression === undefined ? [] : [{ name: 'f', expression }])
    } catch (thrown) {
      return (thrown as { errors: { field: string; code: string }[] }).errors.map(({ field, code }) => `${field} ${code}`)
    }
    return []
  }
  test('that are invalid are refused with the field of each', () => {
    expect(refused([query('a', { where: 'b =' }), query('b', { select: ['sum()'] })])).toEqual([
      'queries.0.where EXPECTED_VALUE',
      'queries.1.select BAD_ARGUMENT',
    ])
    expect(refused([query('a', { from_expr: '' })])).toEqual(['queries.0.from MISSING_SOURCE'])
    expect(refused([query('a', { select: ['*'] })])).toEqual(['queries.0.select BAD_ARGUMENT'])
    expect(refused([query('a'), query('a')])).toEqual(['queries DUPLICATE_NAME'])
    expect(refused([query('a')], 'a / b')).toEqual(['formulas.0.expression UNKNOWN_NAME'])
    expect(refused([query('a', { groups: ['x'] }), query('b', { groups: ['y'] })], 'a / b')).toEqual([
      'formulas.0.expression GROUPS_DIFFER',
    ])
  })
})
