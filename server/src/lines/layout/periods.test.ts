import { expect, test } from 'vitest'
import { densityOf, LONGEST_PERIOD_S, NO_PERIOD, PeriodChoice, periodFor, periodLengths } from './periods.ts'

const rowsIn = (rowsPerMinute: number) => (rowsPerMinute * periodFor(rowsPerMinute, undefined)) / 60

test('a period holds some 25,000 rows at any volume that is not too low for a day', () => {
  for (let rowsPerMinute = 35; rowsPerMinute <= 1_500_000; rowsPerMinute *= 1.3) {
    expect(rowsIn(rowsPerMinute), `${rowsPerMinute} a minute`).toBeGreaterThan(9_000)
    expect(rowsIn(rowsPerMinute), `${rowsPerMinute} a minute`).toBeLessThanOrEqual(50_000)
  }
  expect(periodFor(1, undefined)).toBe(LONGEST_PERIOD_S)
  expect(periodFor(1e9, undefined)).toBe(2)
})

test('the length stays while the volume changes a little, and follows a large change', () => {
  for (const present of periodLengths) {
    const fitting = (50_000 * 60) / present
    expect([fitting * 2.4, fitting / 1.5].map((rowsPerMinute) => periodFor(rowsPerMinute, present))).toEqual([present, present])
  }
  expect(periodFor(60_000, 86_400)).toBe(30)
  expect(periodFor(10, 2)).toBe(86_400)
  expect(periodFor(60_000, NO_PERIOD)).toBe(30)
})

test('a few late rows hardly change the volume', () => {
  const late = Array.from({ length: 100 }, () => 1)
  expect(densityOf([30_000, 30_000, ...late])).toBeGreaterThan(29_000)
  expect([densityOf([]), densityOf([5])]).toEqual([0, 5])
})

/** A post of rows that are evenly spread from a time on. */
const spread = (fromMs: number, toMs: number, rows: number) => ({
  timesMs: Array.from({ length: 64 }, (_, index) => fromMs + ((toMs - fromMs) * index) / 64),
  weight: rows / 64,
})

test('the choice follows the times of the rows, whenever they arrive', () => {
  const choice = new PeriodChoice()
  const day = { timesMs: Array.from({ length: 64 }, (_, index) => index * 1_350_000), weight: 1 }
  expect(choice.next('sparse', undefined, day)).toBe(LONGEST_PERIOD_S)
  expect(choice.next('dense', undefined, spread(0, 60_000, 10_000))).toBe(LONGEST_PERIOD_S)
  expect(choice.next('dense', LONGEST_PERIOD_S, spread(0, 60_000, 90_000))).toBe(30)
  // Few rows tell nothing new.
  expect(choice.next('dense', 30, spread(60_000, 120_000, 100))).toBe(30)
  expect(choice.next('sparse', undefined, day)).toBe(LONGEST_PERIOD_S)
  expect(choice.next('known', 10, spread(0, 60_000, 100))).toBe(10)
  expect(choice.next('in order of time', NO_PERIOD, spread(0, 60_000, 100))).toBe(LONGEST_PERIOD_S)
})

test('many datasets are counted, and the least recent forgotten', () => {
  const choice = new PeriodChoice()
  choice.next('first', 10, spread(0, 1, 1))
  for (let dataset = 0; dataset < 5_000; dataset += 1) choice.next(String(dataset), undefined, spread(0, 1, 1))
  expect(choice.next('first', 60, spread(0, 1, 1))).toBe(60)
})
