import { expect, test } from 'vitest'
import { groupClauses, sortGroups } from './group-order.ts'
import { splitMeasures } from './measures.ts'

const group = (name: string, value: number, count = value) => ({ values: [name], value, count, slices: [] })
const groups = [group('v10', 5, 1), group('v9', 7, 3), group('a', 5, 2)]
const names = (order: Parameters<typeof sortGroups>[1]) =>
  sortGroups(groups, order, ({ count }) => count * 2).map(({ values }) => values[0])

test('groups are sorted by field in natural order, by measure, by events, and by change', () => {
  expect(names({ column: 0, isRising: true })).toEqual(['a', 'v9', 'v10'])
  expect(names({ column: 'value', isRising: false })).toEqual(['v9', 'v10', 'a'])
  expect(names({ column: 'events', isRising: true })).toEqual(['v10', 'a', 'v9'])
  expect(names({ column: 'change', isRising: false })).toEqual(['v10', 'v9', 'a'])
})

test('groups without a value come after all others, also after negative ones', () => {
  const all = [{ ...group('none', 0, 4), value: null }, group('below', -3), group('zero', 0)]
  const order = { column: 'value', isRising: false } as const
  expect(sortGroups(all, order, () => 0).map(({ values }) => values[0])).toEqual(['zero', 'below', 'none'])
})

test('group conditions match the events of the group, also where the field is absent', () => {
  expect(groupClauses(['level', 'my key'], ['error', "it's"])).toEqual(["level = 'error'", `"my key" = 'it''s'`])
  expect(groupClauses(['region'], ['null'])).toEqual(["(region IS NULL OR region = 'null')"])
})

test('measures are split at commas outside parentheses and quotes', () => {
  expect(splitMeasures('median(took), p95("a,b"), percentile(took, 99)')).toEqual(['median(took)', 'p95("a,b")', 'percentile(took, 99)'])
  expect(splitMeasures('count(*)')).toEqual(['count(*)'])
})
