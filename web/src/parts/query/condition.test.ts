import { expect, test } from 'vitest'
import { bothConditions, groupCondition, groupKeys } from './condition.ts'

test('a group becomes a condition on each key, with quoted names and values', () => {
  expect(groupCondition(['region', '@status'], ["d'or", 'error'])).toBe(`region = 'd''or' AND @status = 'error'`)
  expect(groupCondition(['region'], ['null'])).toBe("(region IS NULL OR region = 'null')")
  expect(groupCondition(['@user name', 'and'], ['a', 'b'])).toBe(`"@user name" = 'a' AND "and" = 'b'`)
})

test('the groups of a query are read as the service reads them', () => {
  expect(groupKeys(['"user name"', 'region'])).toEqual(['user name', 'region'])
  expect(groupKeys(['[region, "a,b"]'])).toEqual(['region', 'a,b'])
  expect([groupKeys(undefined), groupKeys(['{{name}} x'])]).toEqual([[], ['{{name}} x']])
})

test('two conditions are joined with AND, and an OR gets parentheses', () => {
  expect(bothConditions('', 'b')).toBe('b')
  expect(bothConditions('a', '')).toBe('a')
  expect(bothConditions('a OR c', 'b')).toBe('(a OR c) AND b')
})
