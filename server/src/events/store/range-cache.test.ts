import { expect, test } from 'vitest'
import { openEventChanges } from './event-changes.ts'
import { type CacheKind, RangeCaches } from './range-cache.ts'

const MINUTE_MS = 60_000
const minutes = (from: number, to: number) => ({ fromMs: from * MINUTE_MS, toMs: to * MINUTE_MS })
const kind = (of: Partial<CacheKind<string>> = {}): CacheKind<string> => ({
  name: 'texts',
  extentsMax: 3,
  bytesMax: 10_000,
  bytesOf: ({ length }) => length,
  ...of,
})
const scope = { orgNumber: 1, logIds: ['log'] }

test('an extent is found in every range that it has a part of, up to the first change since', () => {
  const changes = openEventChanges()
  const caches = new RangeCaches(changes)
  const cache = caches.of(kind())
  cache.put(scope, 'key', [{ range: minutes(10, 20), since: caches.now(), value: 'first' }])
  const found = (from: number, to: number) =>
    cache.find(scope, 'key', minutes(from, to)).map(({ value, heldUntilMs }) => [value, heldUntilMs / MINUTE_MS])
  expect([found(10, 20), found(0, 15), found(15, 30), found(0, 10), found(20, 30)]).toEqual([
    [['first', 20]],
    [['first', 15]],
    [['first', 20]],
    [],
    [],
  ])
  changes.begin(['log'], { fromMs: 18 * MINUTE_MS, toMs: 18 * MINUTE_MS + 1 }).end()
  expect([found(10, 20), found(10, 18), found(18, 20)]).toEqual([[['first', 18]], [['first', 18]], []])
  changes.begin(['other'], minutes(0, 30)).end()
  expect(found(10, 20)).toEqual([['first', 18]])
  expect(cache.last(scope, 'key')?.value).toBe('first')
})

test('the oldest extents go first, and a value that is too large is not kept', () => {
  const caches = new RangeCaches(openEventChanges())
  const cache = caches.of(kind())
  const put = (from: number, value: string) => cache.put(scope, 'key', [{ range: minutes(from, from + 1), since: 0, value }])
  const kept = () => cache.find(scope, 'key', minutes(0, 100)).map(({ value }) => value)
  for (const from of [0, 1, 2, 0, 3]) put(from, `at ${from}`)
  expect(kept()).toEqual(['at 2', 'at 0', 'at 3'])
  put(4, 'x'.repeat(9_860))
  expect(kept()).toEqual(['x'.repeat(9_860)])
  put(5, 'x'.repeat(10_000))
  expect(kept()).toEqual([])
})

test('kinds, keys and organizations are apart', () => {
  const caches = new RangeCaches(openEventChanges())
  const cache = caches.of(kind())
  cache.put(scope, 'key', [{ range: minutes(0, 1), since: 0, value: 'own' }])
  expect(caches.of(kind()).last(scope, 'key')?.value).toBe('own')
  expect(cache.last(scope, 'other')).toBeUndefined()
  expect(cache.last({ ...scope, orgNumber: 2 }, 'key')).toBeUndefined()
  expect(caches.of(kind({ name: 'others' })).last(scope, 'key')).toBeUndefined()
})

test('where changes are not known, nothing holds, but the last value is there', () => {
  const caches = new RangeCaches(undefined)
  const cache = caches.of(kind())
  cache.put(scope, 'key', [{ range: minutes(0, 1), since: caches.now(), value: 'last' }])
  expect(caches.isExact).toBe(false)
  expect(cache.holds(scope, minutes(0, 1), caches.now())).toBe(false)
  expect(cache.find(scope, 'key', minutes(0, 1))).toEqual([])
  expect(cache.last(scope, 'key')?.value).toBe('last')
})

test('with no memory nothing is kept', () => {
  const caches = new RangeCaches(openEventChanges(), 0)
  const cache = caches.of(kind())
  cache.put(scope, 'key', [{ range: minutes(0, 1), since: caches.now(), value: 'text' }])
  expect(cache.last(scope, 'key')).toBeUndefined()
})
