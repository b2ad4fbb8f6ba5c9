import { expect, test } from 'vitest'
import { sliceAt, stacked, topsAt } from './stack.ts'

test('series lie one on another, and a gap stays a gap', () => {
  expect(
    stacked([
      [1, 2, null],
      [10, null, 30],
      [100, 200, 300],
    ]),
  ).toEqual([
    [1, 2, null],
    [11, null, 30],
    [111, 202, 330],
  ])
})

test('the largest values at a place go first, whatever their sign', () => {
  const series = [{ values: [1] }, { values: [-5] }, { values: [null] }, { values: [3] }]
  expect(topsAt(series, 0, 2)).toEqual([
    { index: 1, value: -5 },
    { index: 3, value: 3 },
  ])
})

test('a moment belongs to the slice that began last before it', () => {
  expect([9, 10, 19, 20, 99].map((atMs) => sliceAt([10, 20, 30], atMs))).toEqual([undefined, 0, 0, 1, 2])
})
