import { expect, test } from 'vitest'
import { roundTop, sliceAt, stacked, summed, topsAt } from './stack.ts'

test('series are stacked, and a gap adds nothing', () => {
  expect(
    stacked([
      [1, 2, null],
      [10, null, 30],
      [100, 200, 300],
    ]),
  ).toEqual([
    [1, 2, 0],
    [11, 2, 30],
    [111, 202, 330],
  ])
})

test('the sum is null only where no series has a value', () => {
  expect(
    summed([
      [1, null, null],
      [2, 3, null],
    ]),
  ).toEqual([3, 3, null])
  expect(summed([])).toEqual([])
})

test('an axis ends at a round number that is stable for similar values', () => {
  expect([0, 0.93, 1, 11, 19, 101, 770, 9_999].map(roundTop)).toEqual([0, 1, 1, 12, 20, 120, 800, 10_000])
})

test('the largest absolute values come first', () => {
  const series = [{ values: [1] }, { values: [-5] }, { values: [null] }, { values: [3] }]
  expect(topsAt(series, 0, 2)).toEqual([
    { index: 1, value: -5 },
    { index: 3, value: 3 },
  ])
})

test('a time belongs to the last slice that starts before it', () => {
  expect([9, 10, 19, 20, 99].map((atMs) => sliceAt([10, 20, 30], atMs))).toEqual([undefined, 0, 0, 1, 2])
})
