import { beforeEach, expect, test } from 'vitest'
import { clearRecentQueries, recentQueries, recentQueryTexts, rememberQuery } from './recent-queries.ts'

// A minimal localStorage.
const stored = new Map<string, string>()
Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => void stored.set(key, text),
    removeItem: (key: string) => void stored.delete(key),
  },
})
beforeEach(() => stored.clear())

test('a repeated query moves to the front with its new result', () => {
  rememberQuery({ q: 'a', atMs: 1, events: 5 })
  rememberQuery({ q: 'b', atMs: 2 })
  rememberQuery({ q: 'a', d: ['x'], atMs: 3 })
  rememberQuery({ q: 'a', atMs: 4, events: 7 })
  expect(recentQueries().map(({ q, d, atMs, events }) => [q, d, atMs, events])).toEqual([
    ['a', undefined, 4, 7],
    ['a', ['x'], 3, undefined],
    ['b', undefined, 2, undefined],
  ])
  expect(recentQueryTexts()).toEqual(['a', 'b'])
  clearRecentQueries()
  expect(recentQueries()).toEqual([])
})

test('the history is bounded and reads its older format', () => {
  stored.set('dendro.queries', JSON.stringify(['old one', 3, null]))
  expect(recentQueryTexts()).toEqual(['old one'])
  for (let index = 0; index < 150; index += 1) rememberQuery({ q: `q${index}`, atMs: index })
  expect(recentQueries()).toHaveLength(100)
  expect(recentQueryTexts()[0]).toBe('q149')
})
