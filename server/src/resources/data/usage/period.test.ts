import { describe, expect, test } from 'vitest'
import { earlierOf, logSlicesOver, periodOf, slicesOver } from './period.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOW_MS = Date.UTC(2026, 10, 21, 10, 0, 30)
const over = (widthMs: number) => ({ fromMs: NOW_MS - widthMs, toMs: NOW_MS })

test.each([
  [20 * MINUTE_MS, 20],
  [12 * HOUR_MS, 720],
  [DAY_MS, 72],
  [10 * DAY_MS, 720],
  [30 * DAY_MS, 720],
  [0, 1],
])('%d ms are shown in %d slices', (widthMs, slices) => {
  expect(slicesOver(over(widthMs))).toBe(slices)
})

test.each([
  [20 * MINUTE_MS, 20],
  [12 * HOUR_MS, 12],
  [DAY_MS, 24],
  [30 * DAY_MS, 30],
  [365 * DAY_MS, 12],
])('%d ms are shown in %d slices for each dataset', (widthMs, slices) => {
  expect(logSlicesOver(over(widthMs))).toBe(slices)
})

describe('a range is moved to full minutes', () => {
  const period = (ask: Parameters<typeof periodOf>[0], slices?: number) => periodOf(ask, NOW_MS, { slices, slicesFor: slicesOver })

  test('a relative one keeps its width and includes this minute', () => {
    const toMs = Date.UTC(2026, 10, 21, 10, 1)
    expect(period({ time_range: 'Last 20 minutes' })).toEqual({ fromMs: toMs - 20 * MINUTE_MS, toMs, slices: 20, isExact: true })
    expect(period({})).toEqual({ fromMs: toMs - DAY_MS, toMs, slices: 72, isExact: true })
  })

  test('an absolute range is widened, with a note', () => {
    const fromMs = Date.UTC(2026, 10, 21, 9, 0)
    expect(period({ from_ts: fromMs, to_ts: fromMs + HOUR_MS })).toMatchObject({
      fromMs,
      toMs: fromMs + HOUR_MS,
      slices: 60,
      isExact: true,
    })
    expect(period({ from_ts: fromMs + 1, to_ts: fromMs + HOUR_MS - 1 })).toMatchObject({ fromMs, toMs: fromMs + HOUR_MS, isExact: false })
  })

  test('an absolute range of some minutes keeps its width, and so its slices', () => {
    const fromMs = Date.UTC(2026, 10, 21, 9, 0, 30, 7)
    const moved = Date.UTC(2026, 10, 21, 9, 1)
    expect(period({ from_ts: fromMs, to_ts: fromMs + 20 * MINUTE_MS })).toEqual({
      fromMs: moved,
      toMs: moved + 20 * MINUTE_MS,
      slices: 20,
      isExact: false,
    })
  })

  test('slices that begin within a minute are not exact', () => {
    expect(period({ time_range: 'Last 20 minutes' }, 40).isExact).toBe(false)
    expect(period({ time_range: 'Last 20 minutes' }, 10).isExact).toBe(true)
  })

  test('a lone bound and two ranges are refused', () => {
    expect(() => period({ from_ts: 1 })).toThrow('belong together')
    expect(() => period({ from_ts: 1, to_ts: 2, time_range: 'today' })).toThrow('not both')
    expect(() => period({ time_range: 'some day' })).toThrow('time_range')
  })
})

describe('the period to compare with', () => {
  const bounds = { fromMs: NOW_MS - HOUR_MS, toMs: NOW_MS }

  test('is the one just before, unless another is named; the named range goes before the timestamps', () => {
    expect(earlierOf(bounds, {}, NOW_MS)).toEqual({ fromMs: NOW_MS - 2 * HOUR_MS, toMs: NOW_MS - HOUR_MS })
    const october = { fromMs: Date.UTC(2026, 9), toMs: Date.UTC(2026, 10) }
    expect(earlierOf(bounds, { delta_time_range: 'Previous month', delta_from_ts: 1, delta_to_ts: 2 }, NOW_MS)).toEqual(october)
    expect(earlierOf(bounds, { delta_from_ts: 0, delta_to_ts: HOUR_MS }, NOW_MS)).toEqual({ fromMs: 0, toMs: HOUR_MS })
  })

  test('needs both timestamps, in their order', () => {
    const failureOf = (ask: Parameters<typeof earlierOf>[1]) => {
      try {
        return earlierOf(bounds, ask, NOW_MS)
      } catch (thrown) {
        return thrown
      }
    }
    expect(failureOf({ delta_from_ts: 1 })).toMatchObject({ errors: [{ field: 'delta_from_ts', code: 'MISSING_PAIR' }] })
    expect(failureOf({ delta_from_ts: 2, delta_to_ts: 1 })).toMatchObject({ errors: [{ field: 'delta_from_ts', code: 'OUT_OF_RANGE' }] })
  })
})
