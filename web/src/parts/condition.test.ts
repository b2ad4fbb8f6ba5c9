import { expect, test } from 'vitest'
import { bothConditions, groupCondition } from './condition.ts'

test('a group is its keys with their values, quoted as the language wants it', () => {
  expect(groupCondition(['region', '@status'], ["d'or", 'error'])).toBe(`"region" = 'd''or' AND @status = 'error'`)
  expect(groupCondition(['region'], ['null'])).toBe('"region" IS NULL')
})

test('two conditions hold together, and an OR does not swallow the other', () => {
  expect(bothConditions('', 'b')).toBe('b')
  expect(bothConditions('a', '')).toBe('a')
  expect(bothConditions('a OR c', 'b')).toBe('(a OR c) AND b')
})
