import { expect, test } from 'vitest'
import { SequenceSet } from './sequence-set.ts'

/** Returns the same numbers for the same seed, unordered, some of them twice. */
function randomNumbers(seed: number, count: number): bigint[] {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return BigInt(state % 500) + 2n ** 60n
  })
}

test('a set of sequence numbers holds what a Set would, in ascending order', () => {
  let own = SequenceSet.EMPTY
  let plain = new Set<bigint>()
  for (let round = 1; round <= 40; round += 1) {
    const added = randomNumbers(round, round % 7 === 0 ? 0 : round)
    own = own.with(added)
    plain = plain.union(new Set(added))
    if (round % 5 === 0) {
      const removed = SequenceSet.of(randomNumbers(round + 1_000, 10))
      own = own.without(removed)
      plain = plain.difference(new Set(removed))
    }
    if (round % 9 === 0) {
      const floor = 2n ** 60n + BigInt(round)
      own = own.above(floor)
      plain = new Set([...plain].filter((seq) => seq > floor))
    }
    const sorted = [...plain].sort((one, other) => (one < other ? -1 : 1))
    expect([...own]).toEqual(sorted)
    expect(own.size).toBe(sorted.length)
    for (const seq of randomNumbers(round, 50)) expect(own.has(seq)).toBe(plain.has(seq))
    expect(own.fromEnd(3)).toBe(sorted.at(-4))
  }
})
