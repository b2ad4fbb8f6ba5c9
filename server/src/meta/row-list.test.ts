import { expect, test } from 'vitest'
import type { Clock } from '../kernel/clock.ts'
import { Cache } from './cache.ts'
import { currentReads } from './reads.ts'
import type { ChangedIds } from './row-list.ts'

type Thing = { id: string; created_at: number; kind: string; text: string }

const stillClock: Clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: () => new Promise(() => undefined) }

/** A cache over a table of things, whose kinds are in a second table. `reads` lists what was read: ids, or 'all'. */
function watchedThings() {
  const cache = new Cache(stillClock, undefined, ['things', 'kinds'])
  cache.following(true)
  const rows = new Map<string, Thing>()
  const set = (id: string, text: string, created_at = 1) => rows.set(id, { id, created_at, kind: `kind of ${id}`, text })
  const reads: (string | string[])[] = []
  const held: { answer: () => void }[] = []
  let isHeld = false
  let failure: Error | undefined
  const read = async (changed: ChangedIds | undefined): Promise<Thing[]> => {
    currentReads.getStore()?.note('select from things join kinds')
    const ids = changed && [...(changed.get('things') ?? []), ...(changed.get('kinds') ?? [])]
    reads.push(ids?.toSorted() ?? 'all')
    if (failure) throw failure
    const found = [...rows.values()].filter(({ id, kind }) => !ids || ids.includes(id) || ids.includes(kind)).map((row) => ({ ...row }))
    if (isHeld) await new Promise<void>((answer) => held.push({ answer }))
    return found.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
  }
  const list = () => cache.cachedRows('org', 'things', { read, idsIn: { things: ({ id }) => id, kinds: ({ kind }) => kind } })
  const texts = async () => (await list()).map(({ id, text }) => `${id} ${text}`)
  const hold = (isSo: boolean) => {
    isHeld = isSo
  }
  const fail = (one: Error | undefined) => {
    failure = one
  }
  return { cache, rows, set, reads, list, texts, hold, held, fail }
}

const settled = () => new Promise((done) => setImmediate(done))

test('a list of rows reads only the rows that changed, and keeps the others as they are', async () => {
  const { cache, rows, set, reads, list, texts } = watchedThings()
  for (const id of ['a', 'b', 'c']) set(id, 'old')
  const first = await list()
  set('b', 'new')
  cache.forget('org', 'things', 'b')
  const second = await list()
  expect(second.map(({ text }) => text)).toEqual(['old', 'new', 'old'])
  expect([second[0] === first[0], second[2] === first[2]]).toEqual([true, true])
  expect(await list()).toBe(second)
  rows.delete('a')
  cache.forget('org', 'things', 'a')
  set('newest', 'new', 2)
  cache.forget('org', 'things', 'newest')
  expect(await texts()).toEqual(['newest new', 'b new', 'c old'])
  expect(reads).toEqual(['all', ['b'], ['a', 'newest']])
})

test('a list of rows reads the rows that belong to a changed row of another table', async () => {
  const { cache, set, reads, list, texts } = watchedThings()
  for (const id of ['a', 'b']) set(id, 'old')
  await list()
  set('b', 'new')
  cache.forget('org', 'kinds', 'kind of b')
  expect(await texts()).toEqual(['a old', 'b new'])
  cache.forget('org', 'others', 'a')
  cache.forget('another', 'things', 'a')
  await list()
  expect(reads).toEqual(['all', ['kind of b']])
})

test('a list of rows is read whole after changes that may have been missed, and while none arrive', async () => {
  const { cache, set, reads, list, texts } = watchedThings()
  set('a', 'old')
  await list()
  cache.doubt('*')
  await list()
  cache.forget('org')
  await list()
  cache.following(false)
  set('a', 'new')
  expect(await texts()).toEqual(['a new'])
  await list()
  expect(reads).toEqual(['all', 'all', 'all', 'all', 'all'])
})

test('a list of rows is read whole when very many rows have changed', async () => {
  const { cache, set, reads, list } = watchedThings()
  set('a', 'old')
  await list()
  for (let n = 0; n <= 1_000; n += 1) cache.forget('org', 'things', String(n))
  await list()
  expect(reads).toEqual(['all', 'all'])
})

test('a read of changed rows that failed is repeated', async () => {
  const { cache, set, reads, list, texts, fail } = watchedThings()
  set('a', 'old')
  await list()
  set('a', 'new')
  cache.forget('org', 'things', 'a')
  fail(new Error('the store is away'))
  await expect(texts()).rejects.toThrow('the store is away')
  fail(undefined)
  expect(await texts()).toEqual(['a new'])
  expect(reads).toEqual(['all', ['a'], ['a']])
})

test('a slow read of rows brings nothing back that a later one has replaced', async () => {
  const { cache, set, list, texts, hold, held } = watchedThings()
  for (const id of ['a', 'b']) set(id, 'old')
  await list()
  hold(true)
  set('a', 'first')
  cache.forget('org', 'things', 'a')
  const slow = texts()
  await settled()
  set('a', 'second')
  set('b', 'second')
  cache.forget('org', 'things', 'a')
  cache.forget('org', 'things', 'b')
  const quick = texts()
  await settled()
  hold(false)
  held[1]?.answer()
  expect(await quick).toEqual(['a second', 'b second'])
  held[0]?.answer()
  expect(await slow).toEqual(['a second', 'b second'])
  expect(await texts()).toEqual(['a second', 'b second'])
})

test('a change during a whole read of rows is read afterwards', async () => {
  const { cache, set, reads, texts, hold, held } = watchedThings()
  set('a', 'old')
  hold(true)
  const whole = texts()
  await settled()
  set('a', 'new')
  cache.forget('org', 'things', 'a')
  hold(false)
  held[0]?.answer()
  expect(await whole).toEqual(['a old'])
  expect(await texts()).toEqual(['a new'])
  expect(reads).toEqual(['all', ['a']])
})
