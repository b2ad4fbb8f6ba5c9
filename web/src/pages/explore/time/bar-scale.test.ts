import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barScale, timeTicks } from './bar-scale.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 9, 1, 8, 0)

test('the top is a round number above all bars, and a few giants are cut off', () => {
  expect(barScale([3, 7, 96, 40])).toEqual({ top: 100, giants: new Set() })
  expect(barScale([])).toEqual({ top: 1, giants: new Set() })
  const calm = [40, 50, 60, 50, 40, 30, 60, 50]
  expect(barScale([...calm, 9_000])).toEqual({ top: 80, giants: new Set([8]) })
  expect(barScale([9_000, ...calm, 4_000])).toEqual({ top: 80, giants: new Set([0, 9]) })
  expect(barScale([...calm, 9_000], [4_000]).giants.size).toBe(0)
  // Few bars, or a mere peak, are shown whole.
  expect(barScale([10, 20, 9_000]).giants.size).toBe(0)
  expect(barScale([...calm, 200]).giants.size).toBe(0)
})

test.each([
  ['an hour', START, HOUR, ['08:10', '08:20', '08:30', '08:40', '08:50']],
  ['a day', START, 24 * HOUR, ['12:00', '16:00', '20:00', '00:00', '04:00']],
  ['15 minutes', START + 30_000, HOUR / 4, ['08:05', '08:10', '08:15']],
  ['a minute', START, 60_000, ['08:00:10', '08:00:20', '08:00:30', '08:00:40', '08:00:50']],
])('the ticks of %s are round times', (_, from, length, expected) => {
  const ticks = timeTicks(from, from + length, 0)
  const clock = (ms: number) => new Date(ms).toISOString().slice(11, length > 60_000 ? 16 : 19)
  expect(ticks.map(({ ms }) => clock(ms))).toEqual(expect.arrayContaining(expected.slice(0, 3)))
  expect(ticks.length).toBeGreaterThanOrEqual(3)
  expect(ticks.length).toBeLessThanOrEqual(6)
})

test('ticks lie within the range and are at most six, whatever its length', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1, max: 1e11 }), (from, length) => {
      const ticks = timeTicks(from, from + length, 0)
      expect(ticks.length).toBeLessThanOrEqual(6)
      for (const { ms, at } of ticks) {
        expect(ms).toBeGreaterThanOrEqual(from)
        expect(at).toBeGreaterThan(0)
        expect(at).toBeLessThan(1)
      }
      if (length > 20_000) expect(ticks.length).toBeGreaterThanOrEqual(2)
    }),
  )
})

test('in another zone ticks are round there', () => {
  const [first] = timeTicks(START, START + 24 * HOUR, 5.5 * HOUR)
  expect(new Date((first?.ms ?? 0) + 5.5 * HOUR).toISOString().slice(11, 19)).toMatch(/:00:00$/)
})
