import { expect, test } from 'vitest'
import { barIn, partAround, partBetween, placeIn, ticksIn } from './shown-part.ts'

const part = { from: 100, to: 300 }

test('a place is a share of the part', () => {
  expect([100, 150, 300].map((nano) => placeIn(part, nano))).toEqual([0, 25, 100])
})

test.each([
  [150, 50, { left: 25, width: 25 }],
  [0, 200, { left: 0, width: 50 }],
  [250, 500, { left: 75, width: 25 }],
  [0, 1_000, { left: 0, width: 100 }],
  [150, 0, { left: 25, width: 0 }],
  [0, 50, undefined],
  [301, 50, undefined],
])('a bar from %d of %d', (start, duration, bar) => {
  expect(barIn(part, start, duration)).toEqual(bar)
})

test('a part is selected from either side, and a click selects none', () => {
  const whole = { from: 0, to: 1_000_000 }
  expect(partBetween(whole, 0.25, 0.5)).toEqual({ from: 250_000, to: 500_000 })
  expect(partBetween(whole, 0.5, 0.25)).toEqual({ from: 250_000, to: 500_000 })
  expect(partBetween(whole, -1, 2)).toEqual(whole)
  expect(partBetween(whole, 0.5, 0.501)).toBeUndefined()
  expect(partBetween({ from: 0, to: 50 }, 0, 1)).toBeUndefined()
})

test('the part around a span stays inside the trace', () => {
  expect(partAround({ start_nano: 1_000, duration_nano: 20_000 }, 21_500)).toEqual({ from: 0, to: 21_500 })
  expect(partAround({ start_nano: 50_000, duration_nano: 0 }, 100_000)).toEqual({ from: 49_900, to: 50_100 })
})

test('an axis has a handful of round times', () => {
  expect(ticksIn({ from: 0, to: 100 })).toEqual([0, 20, 40, 60, 80, 100])
  expect(ticksIn({ from: 130, to: 1_000 })).toEqual([200, 400, 600, 800, 1_000])
  expect(ticksIn({ from: 0, to: 0 }).length).toBeGreaterThan(0)
})
