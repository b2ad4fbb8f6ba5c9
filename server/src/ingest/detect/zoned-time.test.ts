import { expect, test } from 'vitest'
import { isZone, zonedTime } from './zoned-time.ts'

const at = { ms: Date.UTC(2026, 10, 23, 4), ns: 0 }

test.each([
  ['winter', '<13>Nov 20 10:20:30 host app: x', 'Europe/Berlin', '2026-11-20T09:20:30.000Z', 0],
  ['summer', '<13>Jul  1 10:20:30 host app: x', 'Europe/Berlin', '2026-07-01T08:20:30.000Z', 0],
  ['west of Greenwich', '<13>Nov 20 10:20:30.123456 host app: x', 'America/New_York', '2026-11-20T15:20:30.123Z', 456_000],
  ['half an hour', 'Nov 20 10:20:30 host app: x', 'Asia/Kolkata', '2026-11-20T04:50:30.000Z', 0],
  ['the previous year', '<13>Dec 24 10:20:30 host app: x', 'Europe/Berlin', '2025-12-24T09:20:30.000Z', 0],
  ['a day ahead at most', '<13>Nov 24 04:59:59 host app: x', 'Europe/Berlin', '2026-11-24T03:59:59.000Z', 0],
  ['a year', '<13>Nov 20 2024 10:20:30: %ASA-6-1: x', 'Europe/Berlin', '2024-11-20T09:20:30.000Z', 0],
  ['a network device', '<189>29: 000031: edge-1: *Nov 20 10:20:30.043: %SYS-5-X: x', 'Europe/Berlin', '2026-11-20T09:20:30.043Z', 0],
  ['an ISO time without a zone', '<13>2026-11-20T10:20:30 host app: x', 'Europe/Berlin', '2026-11-20T09:20:30.000Z', 0],
  ['the hour after a change', '<13>Mar 29 03:30:00 host app: x', 'Europe/Berlin', '2026-03-29T01:30:00.000Z', 0],
  [
    'the first of two equal hours, east of Greenwich',
    '<13>2025-10-26T02:30:00 host app: x',
    'Europe/Berlin',
    '2025-10-26T00:30:00.000Z',
    0,
  ],
  ['the first of two equal hours, west of it', '<13>2025-11-02T01:30:00 host app: x', 'America/New_York', '2025-11-02T05:30:00.000Z', 0],
  ['the hour before a change', '<13>Mar 29 01:30:00 host app: x', 'Europe/Berlin', '2026-03-29T00:30:00.000Z', 0],
])('a header is read as local time: %s', (_, line, zone, time, ns) => {
  expect(zonedTime(Buffer.from(line), zone, at)).toEqual({ ms: Date.parse(time), ns })
})

test.each([
  '<13>1 2026-11-20T10:20:30Z host app - - - x',
  '<13>2026-11-20T10:20:30+02:00 host app: x',
  '<13>2026-11-20T10:20:30Z host app: x',
  '<189>29: *Nov 20 10:20:30.043 UTC: %SYS-5-X: x',
  '<13>Nox 20 10:20:30 host app: x',
  '<13>Nov 31 10:20:30 host app: x',
  'text',
  '',
])('no local time: %s', (line) => {
  expect(zonedTime(Buffer.from(line), 'Europe/Berlin', at)).toBeUndefined()
})

test('names of zones', () => {
  expect(['Europe/Berlin', 'UTC', 'Nowhere/Else', ''].map(isZone)).toEqual([true, true, false, false])
})
