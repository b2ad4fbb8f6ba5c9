import fc from 'fast-check'
import { expect, test } from 'vitest'
import { windowsOf } from './time-windows.ts'

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]
const NOW_MS = Date.UTC(2026, 10, 20)
const lastDay = { fromMs: NOW_MS - DAY_MS, toMs: NOW_MS }

test('windows lie side by side and cover the range, whatever is known of its events', () => {
  const ms = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2100, 0) })
  const range = fc.tuple(ms, ms).map(([one, other]) => ({ fromMs: Math.min(one, other), toMs: Math.max(one, other) + 1 }))
  const volume = fc.record({
    events: fc.integer({ min: 1, max: 1e10 }),
    bounds: range,
    periods: fc.array(fc.integer({ min: 1, max: 86_400 })),
  })
  fc.assert(
    fc.property(
      range,
      fc.option(volume, { nil: undefined }),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      (bounds, known, newestFirst, fewer, few) => {
        const windows = windowsOf(bounds, { newestFirst, fewer, few, ...(known ? { volume: known } : {}) })
        const inTime = newestFirst ? windows.toReversed() : windows
        expect(inTime[0]?.fromMs).toBe(bounds.fromMs)
        expect(inTime.at(-1)?.toMs).toBe(bounds.toMs)
        for (const [at, { fromMs, toMs }] of inTime.entries()) {
          expect(toMs).toBeGreaterThan(fromMs)
          expect(inTime[at + 1]?.fromMs ?? toMs).toBe(toMs)
        }
      },
    ),
  )
})

test('the first window over several datasets has some of their events, wherever these lie in the range', () => {
  const volume = { events: 500_000, bounds: { fromMs: NOW_MS - 2 * HOUR_MS, toMs: NOW_MS - HOUR_MS }, periods: [60, DAY_MS / 1_000] }
  const reading = { fewer: true, volume }
  const tenth = HOUR_MS / 10
  for (const bounds of [lastDay, { fromMs: Date.UTC(2010, 0), toMs: Date.UTC(2090, 0) }]) {
    expect(windowsOf(bounds, { ...reading, newestFirst: true })[0]?.fromMs).toBe(NOW_MS - HOUR_MS - tenth)
    expect(windowsOf(bounds, { ...reading, newestFirst: false })[0]?.toMs).toBe(NOW_MS - 2 * HOUR_MS + tenth)
  }
})

test('a range with few events is one window', () => {
  const volume = { events: 50_000, bounds: lastDay, periods: [] }
  expect(windowsOf(lastDay, { newestFirst: true, fewer: true, volume })).toEqual([lastDay])
})
