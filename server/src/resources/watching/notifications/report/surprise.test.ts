import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rateSurprise, type ShareCounts, shareSurprise, significantOnly, surpriseMin } from './surprise.ts'

const splits: fc.Arbitrary<ShareCounts> = fc
  .tuple(fc.nat(10_000), fc.nat(10_000), fc.nat(10_000), fc.nat(10_000))
  .map(([now, rest, before, beforeRest]) => ({ now, nowOf: now + rest, before, beforeOf: before + beforeRest }))

describe('the surprise of a share', () => {
  test('is a number from 0, and 0 exactly when the shares are equal', () => {
    fc.assert(
      fc.property(splits, (split) => {
        const surprise = shareSurprise(split)
        expect(surprise).toBeGreaterThanOrEqual(0)
        const areEqual = split.now * split.beforeOf === split.before * split.nowOf
        if (areEqual) expect(surprise).toBeLessThan(1e-6)
        else if (split.nowOf > 0 && split.beforeOf > 0) expect(surprise).toBeGreaterThan(0)
      }),
    )
  })

  test('is symmetric in both ranges, and in presence and absence', () => {
    fc.assert(
      fc.property(splits, ({ now, nowOf, before, beforeOf }) => {
        const surprise = shareSurprise({ now, nowOf, before, beforeOf })
        expect(shareSurprise({ now: before, nowOf: beforeOf, before: now, beforeOf: nowOf })).toBeCloseTo(surprise, 6)
        expect(shareSurprise({ now: nowOf - now, nowOf, before: beforeOf - before, beforeOf })).toBeCloseTo(surprise, 6)
      }),
    )
  })

  test('grows with the number of events at the same shares, and with the share at the same number', () => {
    fc.assert(
      fc.property(splits, fc.integer({ min: 2, max: 50 }), ({ now, nowOf, before, beforeOf }, times) => {
        const surprise = shareSurprise({ now, nowOf, before, beforeOf })
        const more = shareSurprise({ now: now * times, nowOf: nowOf * times, before: before * times, beforeOf: beforeOf * times })
        expect(more).toBeCloseTo(surprise * times, 3)
        const isAbove = now * beforeOf >= before * nowOf && now < nowOf && beforeOf > 0
        if (isAbove) expect(shareSurprise({ now: now + 1, nowOf, before, beforeOf })).toBeGreaterThanOrEqual(surprise - 1e-9)
      }),
    )
  })

  test('is not biased by sample sizes: equal shares of unequal samples have no surprise', () => {
    expect(shareSurprise({ now: 5, nowOf: 10, before: 50_000, beforeOf: 100_000 })).toBeLessThan(1e-6)
    expect(shareSurprise({ now: 0, nowOf: 0, before: 0, beforeOf: 0 })).toBe(0)
  })
})

describe('the surprise of a pace', () => {
  test('is 0 for equal rates, and grows with new events', () => {
    expect(rateSurprise({ now: 10, nowMs: 5, before: 60, beforeMs: 30 })).toBeLessThan(1e-9)
    expect(rateSurprise({ now: 120, nowMs: 5, before: 0, beforeMs: 30 })).toBeGreaterThan(
      rateSurprise({ now: 12, nowMs: 5, before: 0, beforeMs: 30 }),
    )
    expect(rateSurprise({ now: 0, nowMs: 5, before: 600, beforeMs: 30 })).toBeGreaterThan(surpriseMin(1_000))
  })
})

/** Reproducible numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test('where nothing has changed, fewer than three reports in a hundred name something', () => {
  const random = randomFrom(7)
  const draw = (events: number, values: number): number[] => {
    const counts = Array<number>(values).fill(0)
    for (let event = 0; event < events; event += 1) {
      const value = Math.floor(random() * values)
      counts[value] = (counts[value] ?? 0) + 1
    }
    return counts
  }
  let named = 0
  for (let report = 0; report < 500; report += 1) {
    const [now, before] = [draw(300, 20), draw(1_800, 20)]
    const found = now.map((count, at) => ({
      surprise: shareSurprise({ now: count, nowOf: 300, before: before[at] ?? 0, beforeOf: 1_800 }),
    }))
    if (significantOnly(found, found.length).length > 0) named += 1
  }
  expect(named).toBeLessThan(15)
})

test('the most significant difference is first, and insignificant ones are omitted', () => {
  const found = [{ surprise: 3 }, { surprise: 500 }, { surprise: 40 }]
  expect(significantOnly(found, 100)).toEqual([{ surprise: 500 }, { surprise: 40 }])
})
