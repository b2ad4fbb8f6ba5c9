import type { Event } from '@dendro/api'
import { expect, test } from 'vitest'
import { continueFind, emptyFind } from './find.ts'

const event = (raw: string, fields: Record<string, string> = {}): Event => ({
  '@raw': raw,
  '@time': '',
  '@status': 'info',
  message_kvs: fields,
  attributes: {},
  metadata: { service_id: '00000000-0000-4000-8000-000000000001', timestamp: 0, sequence: 0n, context: '' },
  links: [],
})

test('find ignores case, searches lines and values, and continues when events are appended', () => {
  const events = [event('Order placed'), event('refused'), event('{"said":"an \\"order\\""}', { said: 'an "order"' }), event('a.c')]
  const whole = continueFind(emptyFind(''), 'order', events, () => true)
  expect(whole.hits).toEqual([0, 2])
  expect(continueFind(emptyFind(''), '"ORDER"', events, () => true).hits).toEqual([2])
  expect(continueFind(emptyFind(''), 'b.c', events, () => true).hits).toEqual([])
  const more = [...events, event('reorder')]
  expect(continueFind(whole, 'order', more, () => true).hits).toEqual([0, 2, 4])
  expect(continueFind(whole, 'order', [event('first'), ...more], () => true).hits).toEqual([1, 3, 5])
})
