import type { Monitor } from '@dendro/api'
import { expect, test } from 'vitest'
import { bandsOf } from './bands.ts'
import { bodyOf, draftOf, newDraft, offeredWindows, ruleOf, silenceDraft, windowFor, windowMsOf } from './draft.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const HOUR_MS = 3_600_000

test.each([
  [{ words: 'Last 15 minutes' }, { window: 'Last 15 minutes' }],
  [{ words: 'Last 3 hours' }, { window: 'Last 3 hours' }],
  [{ words: 'Last 90 minutes' }, { window: 'Last 90 minutes' }],
  [{ words: 'Last 24 hours' }, { window: 'Last 1 day' }],
  [{ words: 'Last 7 days' }, { window: 'Last 1 day', note: 'Made from 7 days; the longest window is 1 day.' }],
  [
    { fromMs: NOW - 90_000, toMs: NOW },
    { window: 'Last 5 minutes', note: 'Made from 1 minute 30 seconds; the shortest window is 5 minutes.' },
  ],
  [
    { fromMs: NOW - 807_000, toMs: NOW },
    { window: 'Last 10 minutes', note: 'Made from 13 minutes 27 seconds; this is the longest window within them.' },
  ],
  [{ fromMs: NOW - 600_000, toMs: NOW }, { window: 'Last 10 minutes' }],
  [undefined, { window: 'Last 5 minutes' }],
])('the range %j becomes the window %j', (range, window) => expect(windowFor(range, NOW)).toEqual(window))

test('a window that is not listed is offered where its length belongs', () => {
  expect(offeredWindows('Last 2 hours')).toHaveLength(10)
  expect(offeredWindows('Last 3 hours').slice(4, 8)).toEqual(['Last 1 hour', 'Last 2 hours', 'Last 3 hours', 'Last 4 hours'])
})

test('a window has a length', () => {
  expect(['Last 5 minutes', 'last 1 day', 'Last 2 hours', 'yesterday'].map(windowMsOf)).toEqual([
    300_000,
    24 * HOUR_MS,
    2 * HOUR_MS,
    undefined,
  ])
})

test('a draft keeps its query, and is incomplete without a name and a recipient', () => {
  const draft = newDraft({ d: ['id'], q: 'level = error', groups: ['region', ' host '] }, 'Last 15 minutes')
  expect(ruleOf(draft)).toMatchObject({
    queries: [{ from: ['id'], where: 'level = error', groups: ['region', 'host'] }],
    window: 'Last 15 minutes',
  })
  expect(bodyOf(draft)).toBe(undefined)
  expect(bodyOf({ ...draft, name: 'Errors', targets: [{ email: 'a@example.org' }] })).toMatchObject({ name: 'Errors', threshold: 0 })
  expect(ruleOf({ ...draft, threshold: 'many' })).toBe(undefined)
})

test('a draft about silence alerts without events', () => {
  expect(ruleOf(silenceDraft({ d: ['id'] }, 'shop / web', 'Last 2 hours'))).toMatchObject({
    queries: [{ from: ['id'], select: ['count(*)'] }],
    comparison_operator: 'BELOW',
    threshold: 1,
    window: 'Last 2 hours',
    no_data_status: 'ALERT',
  })
})

test('an opened and saved monitor is unchanged', () => {
  const monitor = {
    name: 'Errors',
    description: 'all',
    type: 'CHANGE_DETECTION',
    comparison_operator: 'ABOVE',
    threshold: 2.5,
    warning_threshold: 1,
    window: 'Last 7 minutes',
    actions: [{ type: 'EMAIL', email: 'a@example.org', integration_id: 'mail' }],
    no_data_status: 'NO_DATA',
    notify_once: true,
    group_retention: HOUR_MS,
    compare_to: '1 day ago',
    change_type: 'PERCENTAGE',
    ai_report_enabled: true,
    ai_report_instructions: 'short',
    aux: { a: 1 },
    queries: [{ id: 'x', name: 'a', select: ['count(*)'], from_expr: "dataset = 'web'", where: '', groups: ['region'] }],
    formulas: [{ name: 'formula', expression: 'a * 2' }],
  } as unknown as Monitor
  expect(bodyOf(draftOf(monitor))).toEqual({
    name: 'Errors',
    description: 'all',
    monitor_type: 'CHANGE_DETECTION',
    comparison_operator: 'ABOVE',
    threshold: 2.5,
    warning_threshold: 1,
    window: 'Last 7 minutes',
    actions: [{ email: 'a@example.org', integration_id: 'mail' }],
    no_data_status: 'NO_DATA',
    notify_once: true,
    group_retention: HOUR_MS,
    compare_to: '1 day ago',
    change_type: 'PERCENTAGE',
    ai_report_enabled: true,
    ai_report_instructions: 'short',
    aux: { a: 1 },
    queries: [{ name: 'a', select: ['count(*)'], from_expr: "dataset = 'web'", where: '', groups: ['region'] }],
    formulas: [{ name: 'formula', expression: 'a * 2' }],
  })
})

test('a band lasts until the status changes, the last one until the end', () => {
  const at = (time: number, status: 'OK' | 'ALERT' | 'WARN') => ({ time, status })
  expect(bandsOf([at(1, 'OK'), at(2, 'ALERT'), at(3, 'ALERT'), at(4, 'OK'), at(5, 'WARN')], 9)).toEqual([
    { fromMs: 2, toMs: 4, kind: 'ALERT' },
    { fromMs: 5, toMs: 9, kind: 'WARN' },
  ])
})
