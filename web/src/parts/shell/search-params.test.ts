import { expect, test } from 'vitest'
import { except, flag, number, oneOf, readParams, text, textList } from './search-params.ts'

const schema = { find: text, at: number, all: flag, d: textList, sort: except(oneOf(['name', 'size']), 'name') }

test('valid parameters are read', () => {
  const search = { find: 'web', at: 5, all: true, d: ['a', 'b'], sort: 'size' }
  expect(readParams(schema, search)).toEqual(search)
})

test.each([
  { find: '' },
  { find: 7 },
  { at: '5' },
  { all: 'true' },
  { d: 'a' },
  { d: [] },
  { sort: 'name' },
  { sort: 'color' },
  { unknown: 'x' },
])('%j is dropped', (search) => expect(readParams(schema, search)).toEqual({}))

test('a list keeps its texts only', () => expect(readParams(schema, { d: ['a', 1, null] })).toEqual({ d: ['a'] }))
