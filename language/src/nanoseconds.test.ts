import { expect, test } from 'vitest'
import { durationText } from './nanoseconds.ts'

test.each([
  [0, '0 ns'],
  [999, '999 ns'],
  [1_500, '1.5 µs'],
  [35e6, '35 ms'],
  [12_340_000_000, '12.3 s'],
  [-50e6, '-50 ms'],
  [90e9, '1.5 min'],
])('%d ns are %s', (nanos, text) => {
  expect(durationText(nanos)).toBe(text)
})
