import { beforeEach, expect, test } from 'vitest'
import { askedBefore, forgetAsked, keepAsked, recentQueries } from './recent.ts'

// A browser keeps texts under names; so does this.
const kept = new Map<string, string>()
Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
    removeItem: (key: string) => void kept.delete(key),
  },
})
beforeEach(() => kept.clear())

test('what is asked again moves to the front, with what it found this time', () => {
  keepAsked({ q: 'a', atMs: 1, events: 5 })
  keepAsked({ q: 'b', atMs: 2 })
  keepAsked({ q: 'a', d: ['x'], atMs: 3 })
  keepAsked({ q: 'a', atMs: 4, events: 7 })
  expect(askedBefore().map(({ q, d, atMs, events }) => [q, d, atMs, events])).toEqual([
    ['a', undefined, 4, 7],
    ['a', ['x'], 3, undefined],
    ['b', undefined, 2, undefined],
  ])
  expect(recentQueries()).toEqual(['a', 'b'])
  forgetAsked()
  expect(askedBefore()).toEqual([])
})

test('the history is bounded, and what was kept before it had times is still there', () => {
  kept.set('dendro.queries', JSON.stringify(['old one', 3, null]))
  expect(recentQueries()).toEqual(['old one'])
  for (let index = 0; index < 150; index += 1) keepAsked({ q: `q${index}`, atMs: index })
  expect(askedBefore()).toHaveLength(100)
  expect(recentQueries()[0]).toBe('q149')
})
