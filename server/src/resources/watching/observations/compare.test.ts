import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFormula } from '../../../query/query.ts'
import { anomaliesOf, changesOf, type GroupMeasures, medianOf, patternsOf, type QueryMeasures, valuesOf } from './compare.ts'

const cells = (given: Record<string, number | null>): GroupMeasures =>
  new Map(Object.entries(given).map(([group, value]) => [group, { count: 1, value }]))
const part = (name: string, given: Record<string, number | null>, zeroWithoutEvents = true): QueryMeasures => ({
  name,
  zeroWithoutEvents,
  isGrouped: !('' in given),
  cells: cells(given),
})
const shown = (map: ReadonlyMap<string, unknown>) => Object.fromEntries(map)

test('without a formula the first query counts, and groups without a number are not there', () => {
  expect(shown(valuesOf([part('a', { x: 1, y: null }), part('b', { z: 3 })], undefined))).toEqual({ x: 1 })
})

test('a formula is computed for every group of its queries; a query without groups applies to each', () => {
  const parts = [part('a', { x: 6, y: 1 }), part('b', { x: 2, z: 4 }), part('c', { '': 10 })]
  const value = (text: string) => shown(valuesOf(parts, parseFormula(text, ['a', 'b', 'c'])))
  expect(value('a + b')).toEqual({ x: 8, y: 1, z: 4 })
  expect(value('a / b')).toEqual({ x: 3, z: 0 })
  expect(value('a / c')).toEqual({ x: 0.6, y: 0.1 })
  expect(shown(valuesOf([part('a', { x: 6 }), part('b', { y: 2 }, false)], parseFormula('a + b', ['a', 'b'])))).toEqual({ y: 2 })
})

test('changes: of a count nothing is 0, of anything else nothing is not compared', () => {
  const [now, then] = [new Map(Object.entries({ a: 3, b: 1, z: 0 })), new Map(Object.entries({ a: 1, c: 4, z: 0 }))]
  const change = (zeroWithoutEvents: boolean, isPercentage: boolean) =>
    Object.fromEntries([...changesOf(now, then, { zeroWithoutEvents, isPercentage })].map(([group, { value }]) => [group, value]))
  expect(change(true, false)).toEqual({ a: 2, b: 1, c: -4, z: 0 })
  expect(change(false, false)).toEqual({ a: 2, z: 0 })
  expect(change(true, true)).toEqual({ a: 200, b: Number.POSITIVE_INFINITY, c: -100 })
})

test('anomalies: where the earlier windows all say the same, nothing is one', () => {
  const now = new Map([['a', 9]])
  const anomaly = (earlier: readonly number[]) =>
    anomaliesOf(
      now,
      earlier.map((value) => new Map([['a', value]])),
      { zeroWithoutEvents: true },
    ).get('a')
  expect(anomaly([4, 4, 4])).toEqual({ value: 0, baseline: 4 })
  expect(anomaly([3, 4, 5])?.value).toBeCloseTo(5 / 1.4826)
  expect(anomaly([])).toBe(undefined)
  expect(anomaliesOf(now, [new Map(), new Map([['a', 2]])], { zeroWithoutEvents: true }).get('a')?.baseline).toBe(1)
})

test('the median is the middle of the sorted numbers, whatever their order', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }), { minLength: 1 }), (numbers) => {
      const median = medianOf(numbers)
      expect(numbers.filter((number) => number <= median).length).toBeGreaterThanOrEqual(numbers.length / 2)
      expect(numbers.filter((number) => number >= median).length).toBeGreaterThanOrEqual(numbers.length / 2)
      expect(medianOf(numbers.toReversed())).toBe(median)
    }),
  )
})

test('patterns are new or have vanished, and a window without events has no result', () => {
  const [now, before] = [cells({ a: 1, b: 1 }), cells({ b: 1, c: 1 })]
  expect(patternsOf(now, before, 'NEW')).toEqual(['a'])
  expect(patternsOf(now, before, 'VANISHED')).toEqual(['c'])
  expect(patternsOf(cells({}), before, 'VANISHED')).toBe(undefined)
  expect(patternsOf(cells({ null: 1, a: 1 }), before, 'NEW')).toEqual(['a'])
})
