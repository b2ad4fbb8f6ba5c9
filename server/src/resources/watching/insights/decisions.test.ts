import { readInsightText, writeInsightText } from '@dendro/api'
import { describe, expect, test } from 'vitest'
import { baselineOf, median } from './baseline.ts'
import { DAY_MS, HOUR_MS, withinBudget } from './collect.ts'
import type { HourRow } from './counter-rows.ts'
import type { InsightFinding } from './finding.ts'
import { findJumps } from './jumps.ts'
import { reconcile } from './reconcile.ts'
import type { InsightRow } from './rows.ts'
import { findNewPatterns, findSilentSenders, findVanishedPatterns, isMissed, type SenderRow } from './silence.ts'
import { findExplodedFields, findIdleMonitors, findParserMismatches, findUnqueried, findVerboseDatasets } from './standing.ts'

const LOG = '7d0c1b1e-0000-4000-8000-000000000001'
const KEY = '7d0c1b1e-0000-4000-8000-000000000002'
/** A Monday at midnight. */
const NOW_MS = Date.UTC(2026, 1, 2)

const names = (findings: readonly InsightFinding[]): readonly string[] => findings.map(({ name }) => name)
const row = (agoHours: number, counts: Partial<HourRow>): HourRow => {
  const events = counts.events ?? 0
  return {
    log_id: LOG,
    hour_ms: NOW_MS - agoHours * HOUR_MS,
    bytes: events * 200,
    counted: events,
    errors: 0,
    debugs: 0,
    ...counts,
    events,
  }
}
/** Hours before now, each with the counts of the function, and then the present hour. */
const history = (days: number, at: (agoHours: number) => Partial<HourRow>, now: Partial<HourRow>): HourRow[] => [
  row(0, now),
  ...Array.from({ length: days * 24 }, (_, index) => row(index + 1, at(index + 1))),
]
const jumps = (hours: readonly HourRow[]) => findJumps(LOG, hours, NOW_MS)

describe('jumps', () => {
  const steady = (events: number) => () => ({ events })

  test('a volume of three times the usual one is a jump, less is none', () => {
    expect(names(jumps(history(14, steady(500), { events: 1_500 })))).toEqual(['volume_jumped'])
    expect(jumps(history(14, steady(500), { events: 1_450 }))).toEqual([])
  })

  test('small hours, and a dataset known for less than a week, have no jumps', () => {
    expect(jumps(history(14, steady(10), { events: 900 }))).toEqual([])
    expect(jumps(history(6, steady(500), { events: 5_000 }))).toEqual([])
    expect(names(jumps(history(7, steady(500), { events: 5_000 })))).toEqual(['volume_jumped'])
  })

  test('a rate that is usual on this day of the week, or an hour earlier or later, is no jump', () => {
    const weekly = (ago: number) => ({ events: ago % (7 * 24) === 0 ? 9_000 : 100 })
    const shifted = (ago: number) => ({ events: ago % 24 === 1 ? 9_000 : 100 })
    expect(jumps(history(28, weekly, { events: 9_000 }))).toEqual([])
    expect(jumps(history(28, shifted, { events: 9_000 }))).toEqual([])
  })

  test('bursts on several days at about this time are usual', () => {
    const bursts = (ago: number) => ({ events: ago === 50 || ago === 95 ? 8_000 : 100 })
    expect(jumps(history(14, bursts, { events: 9_000 }))).toEqual([])
  })

  test('a spread of the usual values raises the threshold', () => {
    const noisy = (ago: number) => ({ events: ago % 48 < 24 ? 100 : 1_300 })
    expect(jumps(history(14, noisy, { events: 2_400 }))).toEqual([])
  })

  test('errors jump only when their share does', () => {
    const before = () => ({ events: 1_000, errors: 20 })
    expect(names(jumps(history(14, before, { events: 1_000, errors: 200 })))).toEqual(['errors_jumped'])
    expect(names(jumps(history(14, before, { events: 10_000, errors: 200 })))).toEqual(['volume_jumped'])
    expect(jumps(history(14, () => ({ events: 1_000, errors: 1 }), { events: 1_000, errors: 45 }))).toEqual([])
  })

  test('cost jumps when events become larger, and not when there are more of them', () => {
    const before = () => ({ events: 20_000, bytes: 4 * 2 ** 20 })
    expect(names(jumps(history(14, before, { events: 20_000, bytes: 40 * 2 ** 20 })))).toEqual(['cost_jumped'])
    expect(names(jumps(history(14, before, { events: 200_000, bytes: 40 * 2 ** 20 })))).toEqual(['volume_jumped'])
  })

  test('the evidence has both numbers, and a large jump after two weeks is sure', () => {
    const [found] = jumps(history(14, steady(500), { events: 5_000 }))
    expect(found?.evidence).toBe('5,000 events arrived within an hour, usually 500 at this time (the last 14 days).')
    expect(found?.confidence).toBe('high')
    expect(jumps(history(14, steady(500), { events: 1_600 }))[0]?.confidence).toBe('medium')
  })

  test('the median of nothing is 0, and hours without a row count as 0', () => {
    expect(median([])).toBe(0)
    expect(median([1, 9, 2, 4])).toBe(3)
    expect(baselineOf(new Map([[NOW_MS - 10 * DAY_MS, 50]]), NOW_MS)).toMatchObject({ expected: 0, days: 10 })
  })
})

describe('silence', () => {
  const sender = (counts: Partial<SenderRow>): SenderRow => ({
    log_id: LOG,
    identity_id: KEY,
    first_ms: NOW_MS - 20 * DAY_MS,
    last_ms: NOW_MS - 4 * HOUR_MS,
    hours: 470,
    gap_ms: HOUR_MS,
    ...counts,
  })
  const silent = (counts: Partial<SenderRow>, awakeMs = 0) => findSilentSenders([sender(counts)], NOW_MS, awakeMs)

  test('a steady sender is missed after three hours, and not before', () => {
    expect(names(silent({}))).toEqual(['sender_silent'])
    expect(silent({ last_ms: NOW_MS - 3 * HOUR_MS })).toEqual([])
    expect(silent({})[0]).toMatchObject({ subject: `${LOG} ${KEY}`, sinceMs: NOW_MS - 3 * HOUR_MS, confidence: 'high' })
  })

  test('a sender that pauses at night or on weekends is missed after a longer time', () => {
    const [night, weekend] = [14 * HOUR_MS, 63 * HOUR_MS]
    expect(silent({ gap_ms: night, last_ms: NOW_MS - 29 * HOUR_MS })).toEqual([])
    expect(names(silent({ gap_ms: night, last_ms: NOW_MS - 30 * HOUR_MS }))).toEqual(['sender_silent'])
    expect(silent({ gap_ms: weekend, last_ms: NOW_MS - 95 * HOUR_MS })).toEqual([])
    expect(names(silent({ gap_ms: weekend, last_ms: NOW_MS - 96 * HOUR_MS }))).toEqual(['sender_silent'])
  })

  test('a new or rare sender is not missed, and nothing is while the service was away', () => {
    expect(silent({ first_ms: NOW_MS - 7 * DAY_MS })).toEqual([])
    expect(silent({ hours: 20 })).toEqual([])
    expect(silent({ last_ms: NOW_MS - 30 * HOUR_MS }, NOW_MS - 2 * HOUR_MS)).toEqual([])
    expect(isMissed(sender({}), { endMs: NOW_MS, awakeMs: NOW_MS - 5 * HOUR_MS, leastMs: 3 * HOUR_MS })).toBe(true)
  })

  const pattern = (counts: object) => ({
    log_id: LOG,
    pattern: '00000000000000aa',
    first_ms: NOW_MS - 20 * DAY_MS,
    last_ms: NOW_MS - 8 * HOUR_MS,
    hours: 450,
    events: 9_000,
    gap_ms: HOUR_MS,
    ...counts,
  })

  test('a pattern is missed in a dataset that still receives events, if it was frequent', () => {
    const place = { endMs: NOW_MS, awakeMs: 0, active: new Set([LOG]) }
    expect(names(findVanishedPatterns([pattern({}), pattern({ pattern: '00000000000000bb' })], place))).toEqual(['patterns_vanished'])
    expect(findVanishedPatterns([pattern({})], { ...place, active: new Set() })).toEqual([])
    expect(findVanishedPatterns([pattern({ hours: 100 })], place)).toEqual([])
    expect(findVanishedPatterns([pattern({ events: 900 })], place)).toEqual([])
    expect(findVanishedPatterns([pattern({ last_ms: NOW_MS - 6 * HOUR_MS })], place)).toEqual([])
  })

  test('a pattern is new once all patterns of the dataset were known for a week', () => {
    const fresh = { first_ms: NOW_MS - 2 * HOUR_MS, hours: 2, events: 30, patterns_ms: NOW_MS - 9 * DAY_MS, new_before: 0 }
    const found = (counts: object) => names(findNewPatterns([{ ...pattern({}), ...fresh, ...counts }], NOW_MS))
    expect(found({})).toEqual(['new_patterns'])
    expect(found({ patterns_ms: NOW_MS - 7 * DAY_MS })).toEqual([])
    expect(found({ patterns_ms: null })).toEqual([])
    expect(found({ events: 19 })).toEqual([])
    expect(found({ new_before: 6 })).toEqual([])
    expect(found({ first_ms: NOW_MS - 25 * HOUR_MS })).toEqual([])
  })

  test('the patterns of the smallest datasets are counted, within a budget of events', () => {
    const sizes = [40, 10, 30].map((counted) => ({ log_id: `log of ${counted}`, counted }))
    expect(withinBudget(sizes, 40)).toEqual({ taken: ['log of 10', 'log of 30'], left: ['log of 40'] })
  })
})

describe('states', () => {
  test('fields explode when a known dataset gets many more keys, or an object with keys of its own for each event', () => {
    const keys = {
      log_id: LOG,
      first_day_ms: NOW_MS - 9 * DAY_MS,
      since_ms: NOW_MS,
      keys: 90,
      keys_before: 20,
      open_maps: 0,
      open_maps_before: 0,
    }
    expect(findExplodedFields([keys])[0]).toMatchObject({ evidence: 'The dataset has 90 keys, before 20.', confidence: 'high' })
    expect(findExplodedFields([{ ...keys, keys: 69 }])).toEqual([])
    expect(findExplodedFields([{ ...keys, keys: 150, keys_before: 80 }])).toEqual([])
    expect(findExplodedFields([{ ...keys, first_day_ms: NOW_MS - 2 * DAY_MS }])).toEqual([])
    expect(names(findExplodedFields([{ ...keys, keys: 20, open_maps: 1 }]))).toEqual(['fields_exploded'])
  })

  test('data is unread when no search and no monitor read it for four weeks, and it is large and kept for long', () => {
    const kept = { log_id: LOG, created_at: NOW_MS - 60 * DAY_MS, bytes: 2 ** 30, queried_ms: null, is_watched: false, days: 90 }
    expect(findUnqueried([kept], NOW_MS)[0]?.evidence).toBe(
      'No search, export or monitor has read it for 60 days. It got 1 GiB in the last 7 days and keeps events for 90 days.',
    )
    for (const change of [
      { created_at: NOW_MS - 20 * DAY_MS },
      { bytes: 2 ** 20 },
      { queried_ms: NOW_MS - 27 * DAY_MS },
      { is_watched: true },
      { days: 30 },
    ])
      expect(findUnqueried([{ ...kept, ...change }], NOW_MS)).toEqual([])
  })

  test('a monitor that never or always alerts is one to change', () => {
    const idle = { id: KEY, status: 'OK', modified_at: NOW_MS - 30 * DAY_MS, last_trigger_ts: null, last_change_ms: null, alerts: 0 }
    const found = (change: object) => names(findIdleMonitors([{ ...idle, ...change }], NOW_MS))
    expect(found({})).toEqual(['monitor_never_fires'])
    expect(found({ modified_at: NOW_MS - 27 * DAY_MS })).toEqual([])
    expect(found({ last_trigger_ts: NOW_MS - 20 * DAY_MS })).toEqual([])
    expect(found({ status: 'ALERT', last_change_ms: NOW_MS - 8 * DAY_MS })).toEqual(['monitor_always_fires'])
    expect(found({ status: 'ALERT', last_change_ms: NOW_MS - 6 * DAY_MS })).toEqual([])
    expect(found({ last_trigger_ts: NOW_MS - HOUR_MS, alerts: 50 })).toEqual(['monitor_always_fires'])
  })

  test('debug events and unmatched lines are found by their share', () => {
    expect(names(findVerboseDatasets([{ log_id: LOG, counted: 20_000, debugs: 10_000 }], NOW_MS))).toEqual(['debug_logs_received'])
    expect(findVerboseDatasets([{ log_id: LOG, counted: 20_000, debugs: 9_000 }], NOW_MS)).toEqual([])
    expect(names(findParserMismatches([{ log_id: LOG, lines: 1_000, matched: 499 }], NOW_MS))).toEqual(['parser_config_mismatch'])
    expect(findParserMismatches([{ log_id: LOG, lines: 1_000, matched: 500 }], NOW_MS)).toEqual([])
  })
})

describe('records', () => {
  const finding: InsightFinding = {
    name: 'volume_jumped',
    subject: LOG,
    entityType: 'log',
    entityId: LOG,
    sinceMs: NOW_MS,
    evidence: 'more',
    confidence: 'medium',
    action: { label: 'See', link: '/app/explore' },
  }
  const names = new Set(['volume_jumped', 'sender_silent'] as const)
  const at = (atMs: number) => ({ orgId: KEY, atMs, nowMs: atMs + 1, newId: () => 'new', names })
  const known = (change: Partial<InsightRow> = {}): InsightRow => ({
    ...(reconcile([], [finding], at(NOW_MS)).written[0] as InsightRow),
    id: 'old',
    ...change,
  })

  test('the same cause is the same record, which keeps its beginning', () => {
    const { written, ended } = reconcile([known()], [{ ...finding, sinceMs: NOW_MS + HOUR_MS }], at(NOW_MS + HOUR_MS))
    expect(written).toMatchObject([{ id: 'old', since_ms: NOW_MS, seen_ms: NOW_MS + HOUR_MS, modified_at: NOW_MS + 1 }])
    expect(ended).toEqual([])
    const changed = reconcile([known()], [{ ...finding, evidence: 'even more' }], at(NOW_MS + HOUR_MS))
    expect(changed.written).toMatchObject([{ id: 'old', modified_at: NOW_MS + HOUR_MS + 1 }])
  })

  test('a jump stays for a day after it was last found, and a silence ends at once', () => {
    const jump = known()
    const silence = known({ id: 'silent', name: 'sender_silent' })
    expect(reconcile([jump, silence], [], at(NOW_MS + HOUR_MS)).ended.map(({ id }) => id)).toEqual(['silent'])
    expect(reconcile([jump], [], at(NOW_MS + DAY_MS)).ended.map(({ id }) => id)).toEqual(['old'])
  })

  test('an insight that was not evaluated stays', () => {
    expect(reconcile([known({ name: 'never_queried' })], [], at(NOW_MS + 9 * DAY_MS)).ended).toEqual([])
  })

  test('a description can be read in its parts, and another text cannot', () => {
    const text = {
      finding: 'web: 3 events.',
      sinceMs: NOW_MS,
      confidence: 'high',
      action: { label: 'See', link: '/app/explore?q=a' },
    } as const
    expect(readInsightText(writeInsightText(text))).toEqual(text)
    expect(readInsightText('web: 3 events.')).toBeUndefined()
    expect(readInsightText(writeInsightText({ ...text, action: { label: 'See', link: 'https://example.org' } }))).toBeUndefined()
  })
})
