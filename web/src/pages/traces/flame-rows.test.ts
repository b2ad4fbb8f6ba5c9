import { expect, test } from 'vitest'
import { flameBars, flameRows, flameStep } from './flame-rows.ts'

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

test('arrow keys go to the parent, to the first child and along the row, and stay at its ends', () => {
  const spans = [span(0, 0, 100), span(1, 0, 40), span(2, 5, 10), span(1, 50, 40), span(2, 60, 10)]
  const rows = flameRows(spans)
  const step = (current: number, key: string) => flameStep(spans, rows, { from: 0, to: 100 }, current, key)
  expect(['ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowUp'].map((key) => step(0, key))).toEqual([1, 0, 0, 0])
  expect(['ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowUp'].map((key) => step(3, key))).toEqual([4, 3, 1, 0])
  expect(['ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowUp'].map((key) => step(2, key))).toEqual([2, 4, 2, 1])
  expect(step(-1, 'ArrowDown')).toBe(0)
  expect(step(3, 'x')).toBe(undefined)
})

test('narrow spans that are drawn as one are one step', () => {
  const spans = [span(0, 0, 10_000), ...Array.from({ length: 100 }, (_, at) => span(1, at, 1)), span(1, 5_000, 100)]
  const rows = flameRows(spans)
  const step = (current: number, key: string) => flameStep(spans, rows, { from: 0, to: 10_000 }, current, key)
  const steps = [1]
  while (steps.at(-1) !== 101 && steps.length < 102) steps.push(step(steps.at(-1) ?? 0, 'ArrowRight') ?? 0)
  expect(steps.length).toBeLessThan(15)
  expect(step(50, 'ArrowRight')).toBeGreaterThan(50)
})
