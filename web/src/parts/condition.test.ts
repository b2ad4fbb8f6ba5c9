import { expect, test } from 'vitest'
import { bothConditions, groupCondition } from './condition.ts'

test('a group becomes a condition on each key, with quoted names and values', () => {
  expect(groupCondition(['region', '@status'], ["d'or", 'error'])).toBe(`"region" = 'd''or' AND @status = 'error'`)
  expect(groupCondition(['region'], ['null'])).toBe('"region" IS NULL')
})

test('two conditions are joined with AND, and an OR gets parentheses', () => {
  expect(bothConditions('', 'b')).toBe('b')
  expect(bothConditions('a', '')).toBe('a')
  expect(bothConditions('a OR c', 'b')).toBe('(a OR c) AND b')
})
