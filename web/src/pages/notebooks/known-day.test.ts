import { expect, test } from 'vitest'
import { isDayKnown } from './known-day.ts'

const NOON = Date.UTC(2026, 10, 21, 12)
const HOUR_MS = 3_600_000

test.each([
  ['Last 1 hour', NOON, true],
  ['Last 1 day', NOON - 13 * HOUR_MS, false],
  ['2026-11-20 22:00 – 23:00', NOON - 14 * HOUR_MS, true],
  ['2026-11-20 22:00 – 2026-11-21 01:00', NOON - 14 * HOUR_MS, false],
])('in the range %s the day of a time is known: %d, %s', (range, ms, isKnown) => {
  expect(isDayKnown(ms, range, 'utc', NOON)).toBe(isKnown)
})
