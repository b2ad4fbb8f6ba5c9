import type { Event } from '@dendro/api'
import { beforeEach, expect, test } from 'vitest'
import { keepEvents, keptEvents } from './kept-events.ts'

// A tab keeps texts under names; so does this.
const tab = new Map<string, string>()
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => tab.get(key) ?? null,
    setItem: (key: string, text: string) => void tab.set(key, text),
    removeItem: (key: string) => void tab.delete(key),
  },
})
beforeEach(() => tab.clear())

const event = (raw: string, sequence = 1n): Event => ({
  '@raw': raw,
  '@time': '',
  '@status': 'info',
  message_kvs: {},
  attributes: {},
  metadata: { service_id: 'x', timestamp: Date.UTC(2026, 0, 2, 3, 4, 5, 6), sequence, context: '' },
  links: [],
})

test('kept events are read exactly, by their owner alone', () => {
  const pinned = [event('a', 9_007_199_254_740_993n), event('b')]
  keepEvents('org me', pinned)
  expect(keptEvents('org me')).toEqual(pinned)
  expect(keptEvents('org you')).toEqual([])
  expect(keptEvents('org me')).toEqual([])
  tab.set('dendro.kept-events', '{"owner":"org me"')
  expect(keptEvents('org me')).toEqual([])
})

test('when events exceed the limit, the latest that fit are kept', () => {
  const large = 'x'.repeat(900_000)
  keepEvents('me', [event(`1 ${large}`), event(`2 ${large}`), event('3'), event(`4 ${large}`)])
  expect(keptEvents('me').map((one) => one['@raw']?.[0])).toEqual(['2', '3', '4'])
  keepEvents('me', [])
  expect(tab.size).toBe(0)
})
