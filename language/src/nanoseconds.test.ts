import { expect, test } from 'vitest'
import { durationText, readDuration, readDurations } from './nanoseconds.ts'

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

test.each([
  ['7ns', 7],
  ['15us', 15_000],
  ['250ms', 250e6],
  ['1.5s', 1.5e9],
  ['2m', 120e9],
  ['1h', 3_600e9],
  ['0.4ns', 0],
  ['2500h', 9e15],
  ['2502h', undefined],
  ['7', undefined],
  ['7d', undefined],
  ['-1s', undefined],
  ['', undefined],
])('%s has %s nanoseconds', (text, nanos) => {
  expect(readDuration(text)).toBe(nanos)
})

test.each([
  ['1m30s', 90e9],
  ['1h0.5s', 3_600.5e9],
  ['250ms', 250e6],
  ['15µs', 15_000],
  ['1m30', undefined],
  ['1m 30s', undefined],
  ['2000h2000h', undefined],
  ['', undefined],
])('%s in several units has %s nanoseconds', (text, nanos) => {
  expect(readDurations(text)).toBe(nanos)
})
