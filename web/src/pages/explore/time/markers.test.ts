import type { Downtime } from '@dendro/api'
import { expect, test } from 'vitest'
import { downtimeMarkers, watchingMonitors } from './markers.ts'

const NOON = Date.UTC(2026, 10, 20, 12)
const HOUR_MS = 3_600_000

const downtime = (times: Pick<Downtime, 'static_time_range' | 'dynamic_time_range'>): Downtime => ({
  id: 'd',
  name: 'Release',
  description: '',
  from: [],
  suppress_recovery_alert: false,
  alert_strategy: 'DELAY',
  metadata: {},
  ...times,
})
const hours = (one: Downtime, fromMs: number, toMs: number) =>
  downtimeMarkers(one, { fromMs, toMs }).map((marker) =>
    marker.kind === 'downtime' ? [(marker.fromMs - NOON) / HOUR_MS, (marker.toMs - NOON) / HOUR_MS] : [],
  )

test('a fixed downtime is drawn where it overlaps the range', () => {
  const one = downtime({ static_time_range: { from: NOON, to: NOON + HOUR_MS } })
  expect(hours(one, NOON - HOUR_MS, NOON + HOUR_MS)).toEqual([[0, 1]])
  expect(hours(one, NOON + HOUR_MS, NOON + 2 * HOUR_MS)).toEqual([])
})

test('a recurring downtime is drawn on its days, also over midnight and inverted', () => {
  const night = { from_minute_of_day: 22 * 60, to_minute_of_day: 2 * 60, invert: false, repeat_days: ['Thursday' as const] }
  // 20 November 2026 is a Friday, so the night before it began on Thursday.
  expect(hours(downtime({ dynamic_time_range: night }), NOON - 12 * HOUR_MS, NOON + 24 * HOUR_MS)).toEqual([[-14, -10]])
  const day = { from_minute_of_day: 8 * 60, to_minute_of_day: 20 * 60, invert: true, repeat_days: [] }
  expect(hours(downtime({ dynamic_time_range: day }), NOON - 6 * HOUR_MS, NOON + 11 * HOUR_MS)).toEqual([
    [-16, -4],
    [8, 11],
  ])
})

test('the twenty monitors of the datasets that triggered last are requested, of very many datasets any', () => {
  const common = { triggered: true, sort: 'last_trigger', limit: 20, totals: true }
  expect(watchingMonitors(undefined)).toEqual(common)
  expect(watchingMonitors(['a', 'b'])).toEqual({ ...common, log_ids: ['a', 'b'] })
  expect(watchingMonitors(Array.from({ length: 101 }, (_, n) => String(n)))).toEqual(common)
})
