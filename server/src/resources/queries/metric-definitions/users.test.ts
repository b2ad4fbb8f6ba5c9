import { expect, test } from 'vitest'
import { metricUsers } from './users.ts'

const rows = [['a'], ['a', 'b'], ['a'], ['b'], ['c'], []].map((metrics, n) => ({ n, metrics }))
const found = (metric_ids?: string[], per_metric?: number) =>
  metricUsers(rows, { metric_ids, per_metric }, ({ metrics }) => metrics).map(({ n }) => n)

test('the records that use one of some metrics are found, of each metric not more than are wanted', () => {
  expect(found()).toEqual([0, 1, 2, 3, 4, 5])
  expect(found(['a', 'c'])).toEqual([0, 1, 2, 4])
  expect(found(['a', 'b'], 1)).toEqual([0, 1])
  expect(found(['a', 'b'], 2)).toEqual([0, 1, 3])
  expect(found(['d'])).toEqual([])
  expect(() => found([], 1)).toThrow(/per_metric/)
})
