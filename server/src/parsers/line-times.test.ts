import { type LineTimeFormat, lineTimeFormats } from '@dendro/api'
import { describe, expect, test } from 'vitest'
import { findLineTimes } from './line-time-candidates.ts'
import { readLineTime } from './line-times.ts'
import { localToUtcMs } from './time-zones.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString())
const isAcceptable = (ms: number, arrivalMs: number): boolean => ms >= Date.UTC(2000, 0, 1) && ms <= arrivalMs + 86_400_000
const candidates = (lines: readonly string[], timezone = 'UTC', arrivalMs = NOW) =>
  findLineTimes(
    lines.map((line) => ({ line, arrivalMs, storedMs: arrivalMs })),
    timezone,
    isAcceptable,
  )
const readAs = (format: LineTimeFormat, line: string, { arrival = NOW, timezone = 'UTC', word = 0 } = {}) =>
  readLineTime({ format, word, timezone }, line, arrival)

/** A line of each system, the notation that is found, the words before it, and its time. */
const systems: readonly (readonly [string, LineTimeFormat, number, string])[] = [
  ['Jun 14 15:16:01 combo sshd(pam_unix)[19939]: authentication failure', 'Mon DD hh:mm:ss', 0, '2026-06-14T15:16:01.000Z'],
  ['<13>Jun  4 15:16:01 combo cron: run', 'Mon DD hh:mm:ss', 0, '2026-06-04T15:16:01.000Z'],
  ['2015-07-29 17:41:44,747 - INFO  [QuorumPeer] - tickTime set', 'YYYY-MM-DD hh:mm:ss', 0, '2015-07-29T17:41:44.747Z'],
  ['081109 203615 148 INFO dfs.DataNode$PacketResponder: terminating', 'YYMMDD hh:mm:ss', 0, '2008-11-09T20:36:15.000Z'],
  ['[Sun Dec 04 04:47:44 2005] [notice] workerEnv.init() ok', 'Www Mon DD hh:mm:ss YYYY', 0, '2005-12-04T04:47:44.000Z'],
  ['- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond: run', 'epoch', 1, '2005-11-09T20:01:01.000Z'],
  ['- 1117838570 2005.06.03 R02 2005-06-03-15.42.50.675872 R02 RAS KERNEL INFO parity', 'epoch', 1, '2005-06-03T22:42:50.000Z'],
  ['R02 2005-06-03-15.42.50.675872 RAS KERNEL INFO parity', 'YYYY-MM-DD hh:mm:ss', 1, '2005-06-03T15:42:50.675Z'],
  ['03-17 16:13:38.811  1702  2395 D WindowManager: token', 'MM-DD hh:mm:ss', 0, '2026-03-17T16:13:38.811Z'],
  ['20171223-22:15:29:606|Step_LSC|30002312|onStandStepChanged', 'YYYYMMDD hh:mm:ss', 0, '2017-12-23T22:15:29.606Z'],
  ['134681 node-246 unix.hw state_change 1077804742 1 Component', 'epoch', 4, '2004-02-26T14:12:22.000Z'],
  ['nova-api.log 2017-05-16 00:00:00.008 25746 INFO nova.osapi', 'YYYY-MM-DD hh:mm:ss', 1, '2017-05-16T00:00:00.008Z'],
  ['I1102 10:00:00.123456    4711 server.go:42] text', 'MMDD hh:mm:ss', 0, '2026-11-02T10:00:00.123Z'],
  ['[02/Nov/2026:10:00:00 +0100] GET /', 'DD Mon YYYY hh:mm:ss', 0, '2026-11-02T09:00:00.000Z'],
  ['Nov 02, 2026 3:04:05 PM com.example.Main run', 'Mon DD YYYY hh:mm:ss', 0, '2026-11-02T15:04:05.000Z'],
  ['22.11.2026 10:00:00 started', 'DD/MM/YYYY hh:mm:ss', 0, '2026-11-22T10:00:00.000Z'],
]

describe('the time of a line', () => {
  test.each(systems)('is found in %s', (line, format, word, time) => {
    const [best] = candidates([line])
    expect(best).toMatchObject({ format, word, matched: 1, unchanged: 0, is_ambiguous: false })
    expect(iso(best?.samples[0]?.time)).toBe(time)
  })

  test.each([
    ['17/06/09 20:10:40 INFO executor', ['YY/MM/DD hh:mm:ss', 'DD/MM/YY hh:mm:ss']],
    ['03/04/2026 10:00:00 started', ['MM/DD/YYYY hh:mm:ss', 'DD/MM/YYYY hh:mm:ss']],
    ['[10.11 16:49:06] chrome.exe', ['DD-MM hh:mm:ss', 'MM-DD hh:mm:ss']],
  ])('is ambiguous in %s: every reading is listed', (line, formats) => {
    const found = candidates([line])
    expect(found.map(({ format }) => format).sort()).toEqual([...formats].sort())
    expect(found.every(({ is_ambiguous }) => is_ambiguous)).toBe(true)
  })

  test('is decided by lines that only one order of the date can read', () => {
    expect(candidates(['17/06/09 20:10:40 a', '17/06/30 20:10:40 b', '17/07/31 20:10:40 c'])).toMatchObject([
      { format: 'YY/MM/DD hh:mm:ss', is_ambiguous: false, matched: 3 },
    ])
  })

  test.each(['GET /index.html 200', 'version 1.2.3 build 20261122', 'took 12:30:45', 'user 9234567890123456 left', ''])(
    'is not found in %s',
    (line) => expect(candidates([line])).toEqual([]),
  )

  test('is not found when most lines have none', () => {
    expect(candidates(['2026-11-22 10:00:00 a', 'b', 'c'])).toEqual([])
  })

  test('reads no other place than the one that is set', () => {
    expect(readAs('epoch', 'retry at 1131566461')).toBeUndefined()
    expect(readAs('epoch', 'retry at 1131566461', { word: 2 })?.ms).toBe(1_131_566_461_000)
  })

  test.each(lineTimeFormats)('refuses impossible dates: %s', (format) => {
    for (const line of [
      '2026-02-30 10:00:00',
      '20260230 10:00:00',
      'Feb 30 10:00:00',
      '30/02/2026 10:00:00',
      '02-30 10:00:00',
      '0230 10:00:00',
    ])
      expect(readAs(format, line)).toBeUndefined()
  })

  test('keeps nine digits of a fraction', () => {
    expect(readAs('YYYY-MM-DD hh:mm:ss', '2026-11-22T10:00:00.123456789Z x')).toMatchObject({ ns: 456_789, hasZone: true })
  })
})

describe('a year that is missing', () => {
  test.each([
    ['Dec 31 23:59:59', '2027-01-01T00:00:05Z', '2026-12-31T23:59:59.000Z'],
    ['Jan  1 00:00:01', '2026-12-31T23:59:58Z', '2027-01-01T00:00:01.000Z'],
    ['Jan  1 12:00:00', '2026-12-30T00:00:00Z', '2026-01-01T12:00:00.000Z'],
    ['Nov 23 11:59:59', '2026-11-22T12:00:00Z', '2026-11-23T11:59:59.000Z'],
    ['Nov 23 12:00:01', '2026-11-22T12:00:00Z', '2025-11-23T12:00:01.000Z'],
    ['Feb 29 10:00:00', '2026-11-22T12:00:00Z', '2024-02-29T10:00:00.000Z'],
  ])('of %s at %s gives %s', (line, arrival, time) => {
    expect(iso(readAs('Mon DD hh:mm:ss', line, { arrival: Date.parse(arrival) })?.ms)).toBe(time)
  })

  test.each([
    ['Dec 31 22:00:00', 'America/Los_Angeles', '2027-01-01T06:00:05Z', '2027-01-01T06:00:00.000Z'],
    ['Jan  1 13:00:00', 'Pacific/Kiritimati', '2026-12-31T00:00:00Z', '2026-12-31T23:00:00.000Z'],
  ])('of %s in %s follows the zone', (line, timezone, arrival, time) => {
    expect(iso(readAs('Mon DD hh:mm:ss', line, { timezone, arrival: Date.parse(arrival) })?.ms)).toBe(time)
  })
})

describe('a time zone', () => {
  test.each([
    ['Europe/Berlin', '2026-07-01T12:00:00Z', '2026-07-01T10:00:00.000Z'],
    ['Europe/Berlin', '2026-12-01T12:00:00Z', '2026-12-01T11:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29T01:59:00Z', '2026-03-29T00:59:00.000Z'],
    ['Europe/Berlin', '2026-03-29T02:30:00Z', '2026-03-29T01:30:00.000Z'],
    ['Europe/Berlin', '2026-03-29T03:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25T02:30:00Z', '2026-10-25T00:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25T03:00:00Z', '2026-10-25T02:00:00.000Z'],
    ['Australia/Lord_Howe', '2026-04-05T01:45:00Z', '2026-04-04T14:45:00.000Z'],
    ['Asia/Kathmandu', '2026-07-01T12:00:00Z', '2026-07-01T06:15:00.000Z'],
    ['UTC', '2026-07-01T12:00:00Z', '2026-07-01T12:00:00.000Z'],
  ])('%s converts the local time %s', (zone, local, utc) => {
    expect(iso(localToUtcMs(zone, Date.parse(local)))).toBe(utc)
  })

  test('does not apply to times that name their own', () => {
    const line = '2026-11-22 10:00:00 +0200 x'
    expect(iso(readAs('YYYY-MM-DD hh:mm:ss', line, { timezone: 'Asia/Tokyo' })?.ms)).toBe('2026-11-22T08:00:00.000Z')
    expect(candidates([line])[0]).toMatchObject({ has_timezone: true, has_year: true })
  })
})
