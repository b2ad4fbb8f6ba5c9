import { describe, expect, test } from 'vitest'
import { findSavings, type SpendingDataset } from './savings.ts'

const DAY_MS = 86_400_000
const NOW_MS = 100 * DAY_MS
const GB = 1_000_000_000
const PRICE = { currency: 'EUR', per_gb: 1, per_gb_day: 0.01 }

const dataset = (logId: string, over: Partial<SpendingDataset> = {}): SpendingDataset => ({
  logId,
  name: `shop.${logId}`,
  bytes: 10 * GB,
  days: 90,
  createdAt: 0,
  queriedMs: NOW_MS,
  isWatched: false,
  counted: 1_000,
  debugs: 0,
  ...over,
})
const nothing = { datasets: [], patterns: [], fields: [], price: undefined, nowMs: NOW_MS, limit: 10 }
const part = (logId: string, name: string, bytes: number) => ({ logId, name, bytes })

describe('ways to save', () => {
  test('are rules for large patterns and fields, with what they save', () => {
    const found = findSavings({
      ...nothing,
      datasets: [dataset('a')],
      patterns: [part('a', '8f14e45fceea167a', 5 * GB), part('a', '00000000000000aa', 0.1 * GB)],
      fields: [part('a', 'stack', 2 * GB), part('a', 'message', 4 * GB), part('a', '@text', GB), part('gone', 'x', GB)],
      price: PRICE,
    })
    expect(
      found.map(({ kind, pattern, field, bytes_saved, cost_saved = 0 }) => [kind, pattern ?? field, bytes_saved, cost_saved.toFixed(2)]),
    ).toEqual([
      ['SAMPLE_PATTERN', '8f14e45fceea167a', 4.5 * GB, '8.55'],
      ['REMOVE_FIELD', 'stack', 2 * GB, '3.80'],
    ])
    expect(found[0]?.rule).toMatchObject({ where: "@pattern = '8f14e45fceea167a'", action: { type: 'SAMPLE', keep: 0.1 } })
    expect(found[1]?.rule).toMatchObject({ from: ['a'], where: '', action: { type: 'REMOVE_FIELDS', names: ['stack'] } })
    const link = new URL(found[1]?.link ?? '', 'http://dendro')
    expect([link.pathname, link.searchParams.get('rules')]).toEqual(['/app/data', 'true'])
    expect(JSON.parse(link.searchParams.get('draft') ?? '')).toEqual(found[1]?.rule)
  })

  test('are not found by a few samples, however long the events are kept', () => {
    const small = {
      ...nothing,
      datasets: [dataset('a', { bytes: 500_000, days: 3_650 })],
      patterns: [part('a', '8f14e45fceea167a', 400_000)],
    }
    expect(findSavings({ ...small, fields: [part('a', 'stack', 65_536)] })).toEqual([])
  })

  test('are a shorter retention where nobody reads, and no debug events', () => {
    const datasets = [
      dataset('read'),
      dataset('unread', { queriedMs: null, days: 365 }),
      dataset('watched', { queriedMs: null, isWatched: true }),
      dataset('young', { queriedMs: null, createdAt: NOW_MS - 5 * DAY_MS }),
      dataset('short', { queriedMs: null, days: 30 }),
      dataset('verbose', { debugs: 400 }),
    ]
    const found = findSavings({ ...nothing, datasets, price: PRICE })
    expect(found.map(({ kind, log_id }) => [kind, log_id])).toEqual([
      ['SHORTEN_RETENTION', 'unread'],
      ['DROP_DEBUG', 'verbose'],
    ])
    expect(found[0]).toMatchObject({ bytes_saved: 0, gb_days_saved: 10 * 335, retention: 'DAYS_30', link: '/app/data?id=unread&part=care' })
    expect(found[0]?.cost_saved).toBeCloseTo(33.5, 9)
    expect(found[1]).toMatchObject({ bytes_saved: 4 * GB, rule: { action: { type: 'DROP' } } })
  })

  test('are ordered without a price, too, and bounded: three of a dataset, and as many as asked for', () => {
    const fields = Array.from({ length: 5 }, (_, at) => part('a', `field${at}`, (at + 1) * GB))
    const datasets = [dataset('a'), dataset('b', { debugs: 1_000 })]
    const found = findSavings({ ...nothing, datasets, fields })
    expect(found.map(({ log_id, field }) => field ?? log_id)).toEqual(['b', 'field4', 'field3', 'field2'])
    expect(found[0]).not.toHaveProperty('cost_saved')
    expect(findSavings({ ...nothing, datasets, fields, limit: 1 })).toHaveLength(1)
    expect(findSavings(nothing)).toEqual([])
  })
})
