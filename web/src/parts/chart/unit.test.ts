import { expect, test } from 'vitest'
import { unitOf, unitText } from './unit.ts'

test.each([
  ['count(*)', 'number'],
  ['p95(duration_ms)', 'milliseconds'],
  ['duration_ms', 'milliseconds'],
  ['sum("http.response.bytes")', 'bytes'],
  ['avg(latency.seconds)', 'seconds'],
  ['count_distinct(duration_ms)', 'number'],
  ['avg(items)', 'number'],
])('%s is measured in %s', (measure, unit) => {
  expect(unitOf({ select: [measure], formula: undefined })).toBe(unit)
})

test('a formula with a factor of 100 is a percentage, any other a number', () => {
  expect(unitOf({ select: ['sum(bytes)'], formula: 'errors / total * 100' })).toBe('percent')
  expect(unitOf({ select: ['sum(bytes)'], formula: 'a / b' })).toBe('number')
})

test('values are formatted in their unit', () => {
  expect(unitText('bytes')(1_500_000)).toBe('1.5 MB')
  expect(unitText('milliseconds')(1_500)).toBe('1.5 s')
  expect(unitText('milliseconds')(2.345)).toBe('2.35 ms')
  expect(unitText('seconds')(90)).toBe('1.5 min')
  expect(unitText('percent')(12.34)).toBe('12.3 %')
  expect(unitText('bytes')(-2_000)).toBe('−2.0 kB')
})
