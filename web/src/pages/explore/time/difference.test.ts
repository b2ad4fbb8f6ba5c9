import { expect, test } from 'vitest'
import { byDifference, differencesOf, fieldsToCompare } from './difference.ts'

const tally = (counts: Record<string, number>, total: number, isTruncated = false) => ({
  counts: new Map(Object.entries(counts)),
  total,
  isTruncated,
})

test('the rest is the range without the selection, and the largest difference comes first', () => {
  const difference = differencesOf('region', tally({ eu: 90, us: 10 }, 100), tally({ eu: 140, us: 50, asia: 10 }, 200))
  expect(byDifference(difference).map(({ value, hereShare, restShare }) => [value, hereShare, restShare])).toEqual([
    ['eu', 0.9, 0.5],
    ['us', 0.1, 0.4],
    ['asia', 0, 0.1],
  ])
})

test('uncounted, absent and similar values give no difference', () => {
  const here = tally({ a: 500, b: 5, null: 100 }, 1_000, true)
  const whole = tally({ a: 1_000, c: 900, null: 100 }, 2_000, true)
  expect(differencesOf('id', here, whole)).toEqual([])
  expect(differencesOf('id', here, tally({ a: 500 }, 1_000))).toEqual([])
})

test('fields that identify single events are not compared', () => {
  const values = (counts: readonly number[]) => counts.map((count, at) => ({ value: `v${at}`, count }))
  const fields = [
    { name: 'request_id', count: 500, values: values([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) },
    { name: 'service', count: 500, values: values([500]) },
    { name: 'region', count: 400, values: values([300, 100]) },
  ]
  expect(fieldsToCompare(fields, true)).toEqual(['@status', 'region', 'service'])
  expect(fieldsToCompare(fields, false).slice(0, 2)).toEqual(['@status', '@dataset'])
})
