import type { Downtime, Monitor } from '@dendro/api'
import { expect, test } from 'vitest'
import { downtimeMarkers, monitorsToQuery } from './markers.ts'

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

test('only monitors of the datasets that have triggered are queried, latest first', () => {
  const monitor = (id: string, from: string[], last: number | undefined) =>
    ({ id, queries: [{ from }], status: 'OK', ...(last === undefined ? {} : { last_trigger_ts: last }) }) as unknown as Monitor
  const all = [monitor('old', ['a'], 1), monitor('new', ['a', 'b'], 2), monitor('other', ['b'], 3), monitor('still', ['a'], undefined)]
  expect(monitorsToQuery(all, ['a']).map(({ id }) => id)).toEqual(['new', 'old'])
  expect(monitorsToQuery(all, undefined).map(({ id }) => id)).toEqual(['other', 'new', 'old'])
})
