import { expect, test } from 'vitest'
import { parseGroups, parseSelect } from '../../../query/query.ts'
import { choose } from './choice.ts'
import type { KeyFacts } from './key-facts.ts'

test('fields with blanks in their names are written as the query language reads them', () => {
  const facts = { share: 1, distinct: 2, isNumber: false, values: ['ada', 'bob'] }
  const keys: KeyFacts[] = [
    { ...facts, key: 'user name' },
    { ...facts, key: 'duration in ms', isNumber: true, values: ['5', '7'] },
  ]
  for (const wish of ['count of events by user name', 'something nice']) {
    const { choice } = choose(wish, { from: [], keys, previous: undefined })
    expect(parseGroups([...choice.groups])).toEqual(['user name'])
    expect(parseSelect([choice.select])).toHaveLength(1)
  }
})
