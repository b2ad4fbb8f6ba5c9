import { describe, expect, test } from 'vitest'
import { forecastMonth } from './forecast.ts'

/** A Monday. */
const MONDAY = 20_786
const whole = { elapsed: 0, spent: 0, left: 29 }
const days = (count: number, amountOf: (index: number) => number): number[] => Array.from({ length: count }, (_, index) => amountOf(index))

describe('a month is forecast', () => {
  test('not from fewer than three full days, and days before the first data do not count', () => {
    expect(forecastMonth({ ...whole, history: [], today: MONDAY })).toBeUndefined()
    expect(forecastMonth({ ...whole, history: [0, 0, 0, 0, 5, 5], today: MONDAY })).toBeUndefined()
    expect(forecastMonth({ ...whole, history: [0, 0, 0, 5, 5, 5], today: MONDAY })).toMatchObject({ historyDays: 3 })
  })

  test('as the sum of equal days, with what has arrived and the rest of today', () => {
    const found = forecastMonth({ history: days(28, () => 10), today: MONDAY, elapsed: 0.25, spent: 52, left: 4 })
    expect(found?.month).toEqual({ low: 52 + 7.5 + 40, expected: 52 + 7.5 + 40, high: 52 + 7.5 + 40 })
    expect(found?.rest).toEqual([7.5, 10, 10, 10, 10])
  })

  test('with a wide range where few days are known', () => {
    const found = forecastMonth({ ...whole, history: [10, 10, 10], today: MONDAY })?.month
    expect(found?.expected).toBe(300)
    expect(found?.low).toBeLessThan(270)
    expect(found?.high).toBeGreaterThan(330)
  })

  test('by the days of the week', () => {
    const isWeekend = (day: number) => [2, 3].includes(((day % 7) + 7) % 7)
    const found = forecastMonth({
      ...whole,
      history: days(56, (index) => (isWeekend(MONDAY - 56 + index) ? 1 : 10)),
      today: MONDAY,
      left: 6,
    })
    expect(found?.rest.map((amount, ahead) => (isWeekend(MONDAY + ahead) ? amount < 3 : amount > 8))).toEqual(
      days(7, () => 1).map(() => true),
    )
  })

  test('with a clear trend, which weakens, and never below what has arrived', () => {
    const rising = forecastMonth({ ...whole, history: days(28, (index) => 100 + 10 * index), today: MONDAY, left: 9 })
    expect(rising?.rest[0]).toBeCloseTo(380, -1)
    expect(rising?.rest[9]).toBeGreaterThan(420)
    expect(rising?.rest[9]).toBeLessThan(475)
    const falling = forecastMonth({ history: days(28, (index) => 280 - 10 * index), today: MONDAY, elapsed: 0, spent: 500, left: 29 })
    expect(falling?.month.low).toBeGreaterThanOrEqual(500)
    expect(Math.min(...(falling?.rest ?? []))).toBeGreaterThanOrEqual(0)
  })

  test('so that about four of five months lie within the range, whatever the noise of days', () => {
    for (const [name, noise] of [
      ['independent days', 0],
      ['days like the day before', 0.5],
    ] as const) {
      const random = randomFrom(7)
      let within = 0
      const rounds = 400
      for (let round = 0; round < rounds; round += 1) {
        let off = 0
        const series = days(86, (index) => {
          off = noise * off + (random() + random() + random() - 1.5) * 2
          return Math.max(0, 20 + off) * (index % 7 >= 5 ? 0.5 : 1)
        })
        const actual = series.slice(56).reduce((sum, amount) => sum + amount, 0)
        const found = forecastMonth({ ...whole, history: series.slice(0, 56), today: MONDAY, left: 29 })?.month
        if (found && actual >= found.low && actual <= found.high) within += 1
      }
      expect(within / rounds, name).toBeGreaterThan(0.74)
      expect(within / rounds, name).toBeLessThan(0.97)
    }
  })
})

/** Numbers from 0 to 1 that are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
