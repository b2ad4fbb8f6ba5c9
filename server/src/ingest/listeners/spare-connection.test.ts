import { expect, test } from 'vitest'
import { spareConnection } from './spare-connection.ts'

const NOW_MS = 100_000
const of = (address: string, activeMs: number, isPartial = false) => ({ address, activeMs, isPartial })

test.each([
  ['the unused one of the sender with the most', [of('a', 5), of('a', 3), of('a', 9), of('b', 1)], 'c', of('a', 3)],
  ['none within a message', [of('a', 5), of('a', 3, true), of('a', 9)], 'c', of('a', 5)],
  ['none that is in use', [of('a', NOW_MS + 1), of('a', NOW_MS + 2), of('a', NOW_MS + 3)], 'c', undefined],
  ['none for a sender that would have as many', [of('a', 1), of('a', 2), of('b', 3)], 'b', undefined],
  ['none for another connection of the same sender', [of('a', 1), of('a', 2)], 'a', undefined],
  ['none while each sender has one', [of('a', 1), of('b', 2)], 'c', undefined],
  ['none of nothing', [], 'c', undefined],
])('a full listener closes %s', (_, open, newcomer, expected) => {
  expect(spareConnection(open, newcomer, NOW_MS)).toEqual(expected)
})
