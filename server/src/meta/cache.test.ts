import { expect, test } from 'vitest'
import type { Clock } from '../clock.ts'
import { unavailable } from '../errors.ts'
import { Cache } from './cache.ts'

/** handClock stands still until it is moved; sleepers wake when their time has come. */
function handClock(): Clock & { move(ms: number): Promise<void> } {
  let nowMs = 0
  const sleepers: { atMs: number; wake: () => void }[] = []
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((wake, reject) => {
        sleepers.push({ atMs: nowMs + ms, wake })
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    move: async (ms) => {
      nowMs += ms
      for (const sleeper of sleepers) if (sleeper.atMs <= nowMs) sleeper.wake()
      await new Promise((settled) => setImmediate(settled))
    },
  }
}

/** followed is a cache that hears of changes, and a store whose value can be changed, lost or made to hang. */
function followed(entriesMax?: number) {
  const clock = handClock()
  const cache = new Cache(clock, entriesMax)
  cache.following(true)
  const store = { value: 'old', loads: 0, fails: undefined as Error | undefined }
  const load = async () => {
    store.loads += 1
    if (store.fails) throw store.fails
    return store.value
  }
  return { clock, cache, store, load, ask: (org = 'a', name = 'n') => cache.cached(org, name, load) }
}

test('a value is loaded once until its organisation changes, and others are left alone', async () => {
  const { cache, store, ask } = followed()
  await ask('a')
  await ask('a')
  await ask('b')
  expect(store.loads).toBe(2)
  store.value = 'new'
  cache.forget('a')
  expect([await ask('a'), await ask('b')]).toEqual(['new', 'old'])
  cache.forget('*')
  expect(await ask('b')).toBe('new')
})

test('what is remembered is given out at once, and no longer than news of changes arrives', async () => {
  const { cache, ask } = followed()
  const remembered = () => cache.remembered('a', 'n')
  expect(remembered()).toBeUndefined()
  await ask()
  expect(remembered()).toBe('old')
  cache.following(false)
  expect(remembered()).toBeUndefined()
  cache.following(true)
  expect(remembered()).toBe('old')
  cache.forget('a')
  expect(remembered()).toBeUndefined()
})

test('an entry of all organisations is forgotten with any of them', async () => {
  const { cache, store, ask } = followed()
  await ask('*')
  store.value = 'new'
  cache.forget('b')
  expect(await ask('*')).toBe('new')
})

test('what began to load before a change is neither kept nor given to those who ask after it', async () => {
  const { cache } = followed()
  const slow = Promise.withResolvers<string>()
  const before = cache.cached('a', 'n', () => slow.promise)
  const shared = cache.cached('a', 'n', async () => 'not asked')
  cache.forget('a')
  const after = cache.cached('a', 'n', async () => 'new')
  slow.resolve('old')
  expect([await before, await shared, await after]).toEqual(['old', 'old', 'new'])
  expect(await cache.cached('a', 'n', async () => 'not asked')).toBe('new')
})

test('those who ask at once share one load, also when it fails, and the failure is not kept', async () => {
  const { store, ask } = followed()
  store.fails = new Error('broken')
  const asked = await Promise.allSettled([ask(), ask(), ask()])
  expect(asked.map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(store.loads).toBe(1)
  store.fails = undefined
  expect(await ask()).toBe('old')
})

test('while changes are not heard every answer is loaded', async () => {
  const { cache, store, ask } = followed()
  await ask()
  cache.following(false)
  store.value = 'new'
  expect([await ask(), await ask()]).toEqual(['new', 'new'])
  expect(store.loads).toBe(3)
})

test('a lost store is stood in for during 5 minutes after what is kept was last known to be right', async () => {
  const { clock, cache, store, ask } = followed()
  await ask()
  await clock.move(3_600_000)
  cache.heard()
  cache.following(false)
  store.fails = unavailable('lost')
  await clock.move(299_000)
  expect(await ask()).toBe('old')
  await clock.move(2_000)
  await expect(ask()).rejects.toThrow('lost')
})

test('what a load has since shown to be gone does not come back when the store is lost', async () => {
  const { cache, store, ask, load } = followed()
  await ask()
  cache.following(false)
  await cache.cached('a', 'n', async () => undefined)
  store.fails = unavailable('lost')
  expect(await cache.cached('a', 'n', load as () => Promise<unknown>)).toBe(undefined)
})

test('what was changed, and errors other than a lost store, are not stood in for', async () => {
  const { cache, store, ask } = followed()
  await ask()
  cache.following(false)
  store.fails = new Error('a bug')
  await expect(ask()).rejects.toThrow('a bug')
  cache.forget('a')
  store.fails = unavailable('lost')
  await expect(ask()).rejects.toThrow('lost')
})

test('a store that does not answer costs one caller half a second and the next ones nothing', async () => {
  const { clock, cache, ask } = followed()
  await ask()
  cache.following(false)
  const hanging = cache.cached('a', 'n', () => new Promise<string>(() => undefined))
  await clock.move(499)
  expect(await Promise.race([hanging, 'waiting'])).toBe('waiting')
  await clock.move(2)
  expect(await hanging).toBe('old')
  expect(await ask()).toBe('old')
})

test('only so many entries are kept, those used last', async () => {
  const { store, ask } = followed(2)
  await ask('a')
  await ask('b')
  await ask('a')
  await ask('c')
  expect(store.loads).toBe(3)
  await ask('a')
  expect(store.loads).toBe(3)
  await ask('b')
  expect(store.loads).toBe(4)
})

test('listeners hear what was forgotten until they have had enough', () => {
  const { cache } = followed()
  const heard: string[] = []
  const stop = cache.onChange((orgId) => heard.push(orgId))
  cache.forget('a')
  cache.forget('*')
  stop()
  cache.forget('b')
  expect(heard).toEqual(['a', '*'])
})
