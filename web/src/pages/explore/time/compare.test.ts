import { expect, test } from 'vitest'
import { change } from '../../../parts/chart/numbers.ts'
import { comparableTotals, shiftOf } from './compare.ts'

const bar = (fromMs: number, info: number) => ({ fromMs, info, warn: 0, error: 1 })
const bars = (start: number, counts: readonly number[], endMs: number, lengthMs: number) => ({
  bars: counts.map((info, at) => bar(start + at * 10, info)),
  stepMs: 10,
  total: 0,
  isExact: true,
  endMs,
  lengthMs,
  cost: { events: 0, isExact: true, bytes: 0, ms: 0 },
})

test('bars that are still filling or begin before the range are not compared', () => {
  const now = bars(100, [5, 10, 10, 3], 135, 30)
  const before = bars(70, [5, 20, 20, 100], 105, 30)
  expect(comparableTotals(now, before)).toEqual({ now: 22, before: 42 })
})

test('a range is compared with the previous period, or with the same time one day or week earlier', () => {
  expect([shiftOf('previous', 900_000), shiftOf('day', 900_000), shiftOf('week', 900_000)]).toEqual([900_000, 86_400_000, 604_800_000])
})

test.each([
  [120, 100, '+20 %'],
  [50, 100, '−50 %'],
  [103, 100, '+3.0 %'],
  [990, 100, '+890 %'],
  [1_240, 100, '×12'],
  [5, 0, 'new'],
  [0, 5, 'gone'],
  [7, 7, 'the same'],
])('%d after %d is %s', (now, before, said) => expect(change(now, before)).toBe(said))
