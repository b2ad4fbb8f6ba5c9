import type { Event } from '@dendro/api'
import { expect, test } from 'vitest'
import { comparedFields, markdownOf } from './pinned-events.ts'

const event = (raw: string, fields: Record<string, string> = {}): Event => ({
  '@raw': raw,
  '@time': '',
  '@status': 'info',
  message_kvs: fields,
  attributes: {},
  metadata: { service_id: 'x', timestamp: Date.UTC(2026, 0, 2, 3, 4, 5, 6), sequence: 0n, context: '' },
  links: [],
})

test('a Markdown table stays intact for any line', () => {
  const events = [event('plain'), event('a | b\n  and `ticks` ``two``')]
  expect(markdownOf(events, { zone: 'utc', datasetName: () => 'orders' })).toBe(
    [
      '| Time (UTC) | Dataset | Line |',
      '| --- | --- | --- |',
      '| 2026-01-02 03:04:05.006 | orders | `plain` |',
      '| 2026-01-02 03:04:05.006 | orders | ``` a \\| b ⏎ and `ticks` ``two`` ``` |',
      '',
    ].join('\n'),
  )
})

test('compared events list differing and missing fields first', () => {
  const events = [event('', { a: '1', b: 'x', c: 'only' }), event('', { a: '1', b: 'y' })]
  expect(comparedFields(events)).toEqual([
    { name: 'b', values: ['x', 'y'], isSame: false },
    { name: 'c', values: ['only', undefined], isSame: false },
    { name: 'a', values: ['1', '1'], isSame: true },
  ])
})
