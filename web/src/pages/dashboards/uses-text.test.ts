import { expect, test } from 'vitest'
import { usesText } from './uses-text.ts'

test('the first users of a metric are named, and the others counted where all are known', () => {
  expect(usesText([[], []])).toBe('not used')
  expect(usesText([['Errors'], ['the monitor Tills']])).toBe('used by Errors, the monitor Tills')
  expect(usesText([['a', 'b', 'c', 'd'], []])).toBe('used by a, b, c, d')
  expect(
    usesText([
      ['a', 'b', 'c', 'd'],
      ['the monitor e', 'the monitor f'],
    ]),
  ).toBe('used by a, b, c, d and 2 more')
  expect(usesText([['a'], ['b', 'c', 'd', 'e', 'f']])).toBe('used by a, b, c, d and others')
})
