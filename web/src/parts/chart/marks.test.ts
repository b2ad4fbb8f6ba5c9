import { expect, test } from 'vitest'
import { bandBox } from './marks.ts'

test.each([
  ['ten minutes of a week in 600 pixels', 100, 100.6, 1, { from: 98.3, width: 4 }],
  ['the same on a dense screen', 200, 201.2, 2, { from: 196.6, width: 8 }],
  ['a day of a week', 100, 185, 1, { from: 100, width: 85 }],
])('a band is wide enough to be seen: %s', (_, from, to, ratio, expected) => {
  const box = bandBox(from, to, ratio)
  expect(box.from).toBeCloseTo(expected.from)
  expect(box.width).toBeCloseTo(expected.width)
})
