import { expect, test } from 'vitest'
import { eventTimeText, sliceTimeText } from './shown-time.ts'

test('an event shows milliseconds, a slice its weekday and month, both with every digit', () => {
  const ms = Date.UTC(2026, 0, 4, 5, 6, 7, 8)
  expect(eventTimeText(ms)).toBe('2026-01-04 05:06:07.008 UTC')
  expect(sliceTimeText(ms)).toBe('Sun Jan 04 05:06:07 UTC 2026')
  expect(sliceTimeText(0)).toBe('Thu Jan 01 00:00:00 UTC 1970')
})
