import { expect, test } from 'vitest'
import { flameBars, flameRows } from './flame-rows.ts'

const span = (depth: number, start_nano: number, duration_nano: number) => ({ depth, start_nano, duration_nano })

test('spans lie below their parents, and those that run at the same time have rows of their own', () => {
  const spans = [span(0, 0, 100), span(1, 0, 60), span(2, 5, 10), span(1, 50, 40), span(1, 60, 10)]
  expect(flameRows(spans)).toEqual([[0], [1, 4], [3], [2]])
})

test('no two spans of a row run at the same time, and each span has a row', () => {
  const spans = Array.from({ length: 500 }, (_, at) => span(at % 5, (at * 7919) % 1_000, 1 + ((at * 31) % 90)))
  const rows = flameRows(spans)
  expect(
    rows
      .flat()
      .toSorted((one, other) => one - other)
      .every((at, index) => at === index),
  ).toBe(true)
  for (const row of rows) {
    for (const [index, at] of row.entries()) {
      const before = spans[row[index - 1] ?? -1]
      if (before) expect(before.start_nano + before.duration_nano).toBeLessThanOrEqual(spans[at]?.start_nano ?? 0)
    }
  }
})

test('narrow spans beside each other are drawn as one, and wide ones are not', () => {
  const spans = Array.from({ length: 10_000 }, (_, at) => span(0, at * 100, 100))
  const whole = { from: 0, to: 1_000_000 }
  const [row = []] = flameRows(spans)
  const bars = flameBars(spans, row, whole)
  expect(bars.length).toBeLessThanOrEqual(2_000)
  expect(bars.reduce((sum, { others }) => sum + 1 + others, 0)).toBe(10_000)
  expect(flameBars(spans, row, { from: 0, to: 1_000 })).toHaveLength(11)
})
