import { expect, test } from 'vitest'
import { outcomeOf, pauseMs } from './delivery.ts'

const NOW_MS = Date.parse('2026-01-02T03:04:05Z')

test.each<[number, string | null, object]>([
  [200, null, { kind: 'stored' }],
  [204, null, { kind: 'stored' }],
  [302, null, { kind: 'retry' }],
  [400, null, { kind: 'refused' }],
  [401, null, { kind: 'retry' }],
  [403, null, { kind: 'retry' }],
  [404, null, { kind: 'retry' }],
  [408, null, { kind: 'retry' }],
  [413, null, { kind: 'split' }],
  [415, null, { kind: 'refused' }],
  [422, null, { kind: 'refused' }],
  [429, '7', { kind: 'retry', afterMs: 7_000 }],
  [500, null, { kind: 'retry' }],
  [503, 'Fri, 02 Jan 2026 03:04:09 GMT', { kind: 'retry', afterMs: 4_000 }],
  [503, '0', { kind: 'retry', afterMs: 0 }],
  [503, '-5', { kind: 'retry', afterMs: 0 }],
  [503, '999999', { kind: 'retry', afterMs: 300_000 }],
])('a response with status %i and Retry-After %s', (status, retryAfter, outcome) => {
  expect(outcomeOf(status, retryAfter, NOW_MS)).toMatchObject(outcome)
})

test('a Retry-After that cannot be read is ignored', () => {
  for (const header of ['soon', '', ' ', 'Infinity', 'NaN']) expect(outcomeOf(503, header, NOW_MS)).not.toHaveProperty('afterMs')
})

test('the pause doubles up to 30 s, half of it is random, and Retry-After is its minimum', () => {
  expect([1, 2, 3, 7, 8, 5_000].map((attempt) => pauseMs(attempt, 1))).toEqual([500, 1_000, 2_000, 30_000, 30_000, 30_000])
  expect(pauseMs(1, 0)).toBe(250)
  expect(pauseMs(1, 0, 7_000)).toBe(7_250)
})
