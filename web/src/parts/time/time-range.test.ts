import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { boundsOf, gridOf, nameOf, readRange, readTime, zoneText } from './time-range.ts'

const NOW = Date.UTC(2026, 10, 21, 15, 4, 5)

describe('typed ranges', () => {
  test.each([
    ['15m', 'Last 15 minutes'],
    ['15 min', 'Last 15 minutes'],
    ['1h', 'Last 1 hour'],
    ['last 3 weeks', 'Last 3 weeks'],
    ['last quarter', 'Last 90 days'],
    ['Last Two Days', 'Last 2 days'],
    ['90 days ago', 'Last 90 days'],
    ['last hour', 'Last 1 hour'],
    ['6 months', 'Last 6 months'],
    ['1y', 'Last 1 year'],
    [' yesterday ', 'yesterday'],
    ['previous  week', 'previous week'],
  ])('%s is %s', (typed, words) => expect(readRange(typed, NOW)).toEqual({ words }))

  test.each(['', 'soon', '0m', 'hour', '12', '-5m', '2026-13-01', 'last banana'])('%j is not understood', (typed) =>
    expect(readRange(typed, NOW)).toBe(undefined),
  )

  test('one time becomes a range around it, two times are a range', () => {
    const at = Date.UTC(2026, 10, 20, 9, 30)
    expect(readRange('2026-11-20T09:30:00Z', NOW)).toEqual({ fromMs: at - 300_000, toMs: at + 300_000 })
    expect(readRange('2026-11-20 09:30 to 2026-11-20 10:30', NOW)).toEqual({ fromMs: at, toMs: at + 3_600_000 })
    expect(readRange('2026-11-20 09:30 - now', NOW)).toEqual({ fromMs: at, toMs: NOW })
    expect(readRange('2026-11-20 09:30 to 2026-11-19', NOW)).toBe(undefined)
  })

  test.each([
    ['10:30 to 11:00', Date.UTC(2026, 10, 21, 10, 30), Date.UTC(2026, 10, 21, 11)],
    ['10:30-11:00', Date.UTC(2026, 10, 21, 10, 30), Date.UTC(2026, 10, 21, 11)],
    ['23:50 – 00:10', Date.UTC(2026, 10, 20, 23, 50), Date.UTC(2026, 10, 21, 0, 10)],
    ['since 10:30', Date.UTC(2026, 10, 21, 10, 30), NOW],
    ['since yesterday 3pm', Date.UTC(2026, 10, 20, 15), NOW],
    ['nov 20 10:30 - 11:00', Date.UTC(2026, 10, 20, 10, 30), Date.UTC(2026, 10, 20, 11)],
    ['22 November 10:30:15 to now', undefined, undefined],
    ['dec 24 2025 to dec 25 2025', Date.UTC(2025, 11, 24), Date.UTC(2025, 11, 25)],
    ['dec 24 18:00 to 19:00', Date.UTC(2025, 11, 24, 18), Date.UTC(2025, 11, 24, 19)],
    ['now-2h to now-1h', NOW - 7_200_000, NOW - 3_600_000],
    ['10:30 to 25:00', undefined, undefined],
    ['feb 30 10:00 to 11:00', undefined, undefined],
    ['2026-11-20T09:30:00-05:00', Date.UTC(2026, 10, 20, 14, 25), Date.UTC(2026, 10, 20, 14, 35)],
  ])('%s is between two times', (typed, fromMs, toMs) =>
    expect(readRange(typed, NOW)).toEqual(fromMs === undefined ? undefined : { fromMs, toMs }),
  )

  test.each(['now-1h', 'now - 1 hour', 'now-1h to now', 'since now-1h'])('%s slides with the time', (typed) =>
    expect(readRange(typed, NOW)).toEqual({ words: 'Last 1 hour' }),
  )

  test('a clock alone is the last such time', () => {
    expect(readRange('15:10', NOW)).toEqual({ fromMs: Date.UTC(2026, 10, 20, 15, 5), toMs: Date.UTC(2026, 10, 20, 15, 15) })
  })

  test.each([
    ['1795274120', 1_795_274_120_000],
    ['1795274120187', 1_795_274_120_187],
    ['1795274120187123456', 1_795_274_120_187],
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21 15:04:05,250', Date.UTC(2026, 10, 21, 15, 4, 5, 250)],
    ['2026-11-21T17:04:05+0200', Date.UTC(2026, 10, 21, 15, 4, 5)],
  ])('%s is a moment', (text, ms) => expect(readTime(text)).toBe(ms))
})

test.each([
  ['Last 15 minutes', NOW - 900_000, NOW],
  ['today', Date.UTC(2026, 10, 21), NOW],
  ['yesterday', Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 21)],
  ['this week', Date.UTC(2026, 10, 16), NOW],
  ['previous month', Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 1)],
  ['this quarter', Date.UTC(2026, 9, 1), NOW],
])('%s means these moments', (words, fromMs, toMs) => expect(boundsOf({ words }, NOW)).toEqual({ fromMs, toMs }))

describe('in a zone with daylight saving time', () => {
  const kept = process.env.TZ
  beforeAll(() => {
    process.env.TZ = 'Europe/Berlin'
  })
  afterAll(() => {
    if (kept === undefined) delete process.env.TZ
    else process.env.TZ = kept
  })
  const HOUR_MS = 3_600_000
  const hoursOf = (words: string, nowMs: number) => {
    const range = readRange(words, nowMs, 'local')
    return range && 'fromMs' in range ? (range.toMs - range.fromMs) / HOUR_MS : undefined
  }

  test('a local day starts at local midnight and has 23 to 25 hours', () => {
    const [spring, autumn] = [Date.UTC(2026, 2, 30, 10), Date.UTC(2026, 9, 26, 10)]
    expect([hoursOf('yesterday', spring), hoursOf('yesterday', autumn)]).toEqual([23, 25])
    expect(readRange('yesterday', autumn, 'local')).toMatchObject({ fromMs: Date.UTC(2026, 9, 24, 22) })
    expect(readRange('yesterday', autumn)).toEqual({ words: 'yesterday' })
    expect(hoursOf('previous month', autumn + 30 * 24 * HOUR_MS)).toBe(31 * 24 + 1)
  })

  test('a time without an offset is local, by the rules of its day', () => {
    expect(readTime('2026-07-01 12:00', 'local')).toBe(Date.UTC(2026, 6, 1, 10))
    expect(readTime('2026-12-01 12:00', 'local')).toBe(Date.UTC(2026, 11, 1, 11))
    expect(readTime('2026-07-01', 'local')).toBe(Date.UTC(2026, 5, 30, 22))
    expect(readTime('2026-07-01T12:00Z', 'local')).toBe(Date.UTC(2026, 6, 1, 12))
    const at = Date.UTC(2026, 6, 1, 12)
    expect(readRange('10:30 to 11:00', at, 'local')).toEqual({ fromMs: Date.UTC(2026, 6, 1, 8, 30), toMs: Date.UTC(2026, 6, 1, 9) })
    expect(zoneText(Date.UTC(2026, 6, 1))).toBe('Europe/Berlin, UTC+02:00')
  })
})

test('steps are round and stay aligned while the range slides', () => {
  const at = (shiftMs: number) => gridOf({ fromMs: NOW - 900_000 + shiftMs, toMs: NOW + shiftMs }, 100)
  expect(at(0).stepMs).toBe(10_000)
  expect(at(0).fromMs % 10_000).toBe(0)
  expect(at(3_000).fromMs).toBe(at(0).fromMs)
  expect(at(0).fromMs).toBeLessThanOrEqual(NOW - 900_000)
  expect(at(0).toMs).toBeGreaterThanOrEqual(NOW)
  expect(at(0).slices).toBeLessThanOrEqual(101)
  expect(gridOf({ fromMs: 0, toMs: NOW }, 100).slices).toBeLessThanOrEqual(101)
})

test('the label of a fixed range contains its day once', () => {
  const fromMs = Date.UTC(2026, 10, 20, 9)
  expect(nameOf({ fromMs, toMs: fromMs + 90_000 }, 'utc')).toBe('2026-11-20 09:00 – 09:01:30')
  expect(nameOf({ fromMs, toMs: fromMs + 86_400_000 }, 'utc')).toBe('2026-11-20 09:00 – 2026-11-21 09:00')
})
