import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ComparedCounts, SIGNIFICANCE_MIN, scoreOf, significanceOf } from './score.ts'

const HOUR = 3_600_000
const counts = (now: number, nowOf: number, before: number, beforeOf: number, times = {}): ComparedCounts => ({
  now,
  nowOf,
  before,
  beforeOf,
  nowMs: HOUR,
  beforeMs: HOUR,
  ...times,
})
const scored = (given: ComparedCounts): number => scoreOf(given)?.score ?? 0

const pairs = fc
  .tuple(
    fc.nat(10_000),
    fc.nat(10_000),
    fc.nat(10_000),
    fc.nat(10_000),
    fc.integer({ min: 1, max: HOUR }),
    fc.integer({ min: 1, max: HOUR }),
  )
  .map(([now, rest, before, earlier, nowMs, beforeMs]) => counts(now, now + rest, before, before + earlier, { nowMs, beforeMs }))

describe('a change', () => {
  test.each<[string, ComparedCounts, string | undefined]>([
    ['appears', counts(50, 1_000, 0, 1_000), 'NEW'],
    ['grows', counts(120, 1_000, 1, 1_000), 'INCREASED'],
    ['shrinks', counts(100, 1_000, 500, 1_000), 'DECREASED'],
    ['vanishes', counts(0, 1_000, 50, 1_000), 'VANISHED'],
    ['is none when the share drops only because others grow', counts(1_000, 3_000, 1_000, 1_100), undefined],
    ['is none when the share grows only because others shrink', counts(1_000, 1_100, 1_000, 3_000), undefined],
    ['is none when everything grows alike', counts(400, 4_000, 100, 1_000), undefined],
    ['is none when the difference is small, however many events there are', counts(340_000, 1e6, 330_000, 1e6), undefined],
    ['is none with an empty range', counts(0, 0, 5, 10), undefined],
    ['is none with an empty baseline', counts(5, 10, 0, 0), undefined],
    ['counts by time', counts(50, 100, 500, 1_000, { nowMs: HOUR / 10 }), undefined],
  ])('%s', (_, given, change) => {
    expect(scoreOf(given)?.change).toBe(change)
  })

  test('has a finite, positive score, and a surprise that is not negative', () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const found = scoreOf(given)
        if (!found) return
        expect(found.score).toBeGreaterThan(0)
        expect(Number.isFinite(found.score + found.surprise)).toBe(true)
        expect(found.surprise).toBeGreaterThanOrEqual(0)
        const isMore = given.now * given.beforeOf > given.before * given.nowOf
        expect(found.change === 'NEW' || found.change === 'INCREASED').toBe(isMore)
      }),
    )
  })

  test('is worth as much as its reverse, which is weighted as a decrease', () => {
    fc.assert(
      fc.property(pairs, ({ now, nowOf, nowMs, before, beforeOf, beforeMs }) => {
        const [one, other] = [
          scoreOf({ now, nowOf, nowMs, before, beforeOf, beforeMs }),
          scoreOf({ now: before, nowOf: beforeOf, nowMs: beforeMs, before: now, beforeOf: nowOf, beforeMs: nowMs }),
        ]
        expect(one === undefined).toBe(other === undefined)
        if (!one || !other) return
        expect(Math.min(one.score, other.score) * 2).toBeCloseTo(Math.max(one.score, other.score), 6)
        expect(one.surprise).toBeCloseTo(other.surprise, 6)
      }),
    )
  })

  test('is worth more the greater its share is, and the smaller its share before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 998 }), fc.nat(998), (now, before) => {
        expect(scored(counts(now + 1, 1_000, before, 1_000))).toBeGreaterThanOrEqual(
          now > before ? scored(counts(now, 1_000, before, 1_000)) : 0,
        )
        if (before < now - 1)
          expect(scored(counts(now, 1_000, before, 1_000))).toBeGreaterThanOrEqual(scored(counts(now, 1_000, before + 1, 1_000)) - 1e-9)
      }),
    )
  })
})

test('the tables of the decision: a rise to 12 % from under 0.1 % precedes all lesser ones', () => {
  const order = [
    counts(120, 1_000, 0, 1_000),
    counts(120, 1_000, 1, 1_000),
    counts(500, 1_000, 300, 1_000),
    counts(40, 1_000, 10, 1_000),
    counts(15, 1_000, 8, 1_000),
  ].map(scored)
  expect(order).toEqual(order.toSorted((one, other) => other - one))
  expect(new Set(order).size).toBe(order.length)
})

test('significance falls with the number of comparisons, and grows with the surprise', () => {
  expect(significanceOf(2 * Math.log(100 / 0.01), 100)).toBeCloseTo(SIGNIFICANCE_MIN, 9)
  expect(significanceOf(40, 1_000)).toBeLessThan(significanceOf(40, 10))
  expect(significanceOf(41, 10)).toBeGreaterThan(significanceOf(40, 10))
})
