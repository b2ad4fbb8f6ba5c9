import { expect, test } from 'vitest'
import { groupRows, sliceRow } from './search.ts'

const select = ['avg(ms)', 'sum(ms)', 'count(*)']
const row = { '@time': 'Fri', 'avg(ms)': '0.0', 'sum(ms)': '0.0', 'count(*)': '2.0' }

test('an average has no value in a slice without one, a sum and a count are 0', () => {
  expect(sliceRow(row, select, { count: 0 })).toEqual({ ...row, 'avg(ms)': null })
  expect(sliceRow(row, select, { count: 2, no_value: true })).toEqual({ ...row, 'avg(ms)': null })
  expect(sliceRow(row, select, { count: 2 })).toEqual(row)
})

test('a group without a value has none', () => {
  const series = { key: 'host', name: 'a', count: 2, stat: 'avg(ms)', value: 0, series_resolution_ms: 1, timeseries: [] }
  expect(groupRows({ ...series, no_value: true }, ['avg(ms)'])).toEqual([{ host: 'a', 'avg(ms)': null }])
  expect(groupRows(series, ['avg(ms)'])).toEqual([{ host: 'a', 'avg(ms)': 0 }])
})
