import type { Downtime } from '@dendro/api'
import { expect, test } from 'vitest'
import { minuteOf, minuteText, phaseOf, spanText, upcoming, whenText } from './times.ts'

const fixed = { static_time_range: { from: Date.UTC(2026, 10, 21, 9), to: Date.UTC(2026, 10, 21, 10, 30) } } as Downtime
const weekly = (invert: boolean) =>
  ({
    dynamic_time_range: { from_minute_of_day: 1_320, to_minute_of_day: 360, invert, repeat_days: ['Saturday', 'Sunday'] },
  }) as unknown as Downtime

test('the schedule of a downtime is described', () => {
  expect(whenText(fixed, 'utc')).toBe('2026-11-21 09:00 – 10:30')
  expect(whenText(weekly(false), 'utc')).toBe('Sat, Sun 22:00 – 06:00')
  expect(whenText(weekly(true), 'utc')).toBe('always except Sat, Sun 22:00 – 06:00')
})

test.each([
  [8, 'planned'],
  [9, 'now'],
  [11, 'over'],
] as const)('at %d it is %s', (hour, phase) => expect(phaseOf(fixed, Date.UTC(2026, 10, 21, hour))).toBe(phase))

test('minutes of the day are parsed and formatted', () => {
  expect([0, 61, 1_440].map(minuteText)).toEqual(['00:00', '01:01', '24:00'])
  expect(['00:00', '01:01', '24:00', '24:01', 'noon'].map(minuteOf)).toEqual([0, 61, 1_440, undefined, undefined])
})

test('the next occurrences of a recurring downtime are listed, an active one first', () => {
  const saturday = Date.UTC(2026, 10, 21, 23, 10)
  const next = (downtime: Downtime, nowMs: number, most = 2) => upcoming(downtime, nowMs, most).map((one) => spanText(one, 'utc'))
  expect(next(weekly(false), saturday, 3)).toEqual([
    '2026-11-21 23:10 – 2026-11-22 06:00',
    '2026-11-22 22:00 – 2026-11-23 06:00',
    '2026-11-28 22:00 – 2026-11-29 06:00',
  ])
  expect(phaseOf(weekly(false), saturday)).toBe('now')
  expect(phaseOf(weekly(true), saturday)).toBe('repeats')
  expect(next(weekly(true), saturday)).toEqual(['2026-11-22 06:00 – 22:00', '2026-11-23 06:00 – 2026-11-28 22:00'])
  expect(next(fixed, Date.UTC(2026, 10, 21, 8))).toEqual(['2026-11-21 09:00 – 10:30'])
  expect(next(fixed, Date.UTC(2026, 10, 22))).toEqual([])
})
