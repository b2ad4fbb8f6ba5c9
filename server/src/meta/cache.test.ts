import { expect, test } from 'vitest'
import type { Clock } from '../kernel/clock.ts'
import { unavailable } from '../kernel/errors.ts'
import { Cache } from './cache.ts'
import { currentReads } from './reads.ts'

/** A clock that stands still until it is moved. Sleepers wake when their time has come. */
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

/** A cache that receives changes, and a store whose value can be changed, lost or made to hang. */
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

test('a value is loaded once until its organization changes, independently of others', async () => {
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

test('a cached value is returned at once, as long as change notifications arrive', async () => {
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

test('an entry of all organizations is invalidated by any of them', async () => {
  const { cache, store, ask } = followed()
  await ask('*')
  store.value = 'new'
  cache.forget('b')
  expect(await ask('*')).toBe('new')
})

test('a load that began before a change is neither cached nor shared with later callers', async () => {
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

test('concurrent callers share one load, also when it fails, and failures are not cached', async () => {
  const { store, ask } = followed()
  store.fails = new Error('broken')
  const requested = await Promise.allSettled([ask(), ask(), ask()])
  expect(requested.map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(store.loads).toBe(1)
  store.fails = undefined
  expect(await ask()).toBe('old')
})

test('without change notifications every answer is loaded', async () => {
  const { cache, store, ask } = followed()
  await ask()
  cache.following(false)
  store.value = 'new'
  expect([await ask(), await ask()]).toEqual(['new', 'new'])
  expect(store.loads).toBe(3)
})

test('cached values replace an unavailable store for 5 minutes after they were last known to be correct', async () => {
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

test('a value that a later load found deleted is not served when the store is unavailable', async () => {
  const { cache, store, ask, load } = followed()
  await ask()
  cache.following(false)
  await cache.cached('a', 'n', async () => undefined)
  store.fails = unavailable('lost')
  expect(await cache.cached('a', 'n', load as () => Promise<unknown>)).toBe(undefined)
})

test('changed values, and errors other than an unavailable store, are not replaced from the cache', async () => {
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

test('the cache keeps the most recently used entries up to its limit', async () => {
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

test('listeners receive invalidations until they unsubscribe', () => {
  const { cache } = followed()
  const heard: string[] = []
  const stop = cache.onChange((orgId) => heard.push(orgId))
  cache.forget('a')
  cache.forget('*')
  stop()
  cache.forget('b')
  expect(heard).toEqual(['a', '*'])
})

/** A cache that knows two tables, and loads that read them as statements do. */
function tabled() {
  const clock = handClock()
  const cache = new Cache(clock, undefined, ['users', 'roles'])
  cache.following(true)
  const loads: string[] = []
  const load =
    (name: string, ...texts: string[]) =>
    async () => {
      loads.push(name)
      for (const text of texts) currentReads.getStore()?.note(text)
      return name
    }
  const loaded = async (ask: () => Promise<unknown>) => {
    loads.length = 0
    await ask()
    return loads.toSorted()
  }
  return { clock, cache, load, loaded }
}

test('a change invalidates the values read from its table, and no others', async () => {
  const { cache, load, loaded } = tabled()
  const ask = async () => {
    await cache.cached('a', 'users', load('users', 'select * from users'))
    await cache.cached('a', 'roles', load('roles', 'select * from roles where org_id = $1'))
    await cache.cached('a', 'both', load('both', 'select 1 from users join roles on true'))
    await cache.cached('a', 'unknown', load('unknown', 'select * from things'))
  }
  await ask()
  expect(await loaded(ask)).toEqual([])
  cache.forget('a', 'users', '1')
  expect(await loaded(ask)).toEqual(['both', 'unknown', 'users'])
  cache.forget('b', 'users', '1')
  expect(await loaded(ask)).toEqual([])
  cache.forget('*', 'roles', '*')
  expect(await loaded(ask)).toEqual(['both', 'roles', 'unknown'])
  cache.forget('a')
  expect(await loaded(ask)).toEqual(['both', 'roles', 'unknown', 'users'])
})

test('where one row of a table matters, changes of the others forget nothing; where the table changes as a whole, all is forgotten', async () => {
  const { cache, load, loaded } = tabled()
  const of = (org: string, id: string) => () => cache.cached(org, id, load(id, 'select * from users'), { only: () => ({ users: id }) })
  const ask = async () => {
    for (const one of [of('a', '1'), of('a', '2'), of('*', '3')]) await one()
  }
  await ask()
  cache.forget('a', 'users', '1')
  expect(await loaded(ask)).toEqual(['1'])
  cache.forget('b', 'users', '3')
  expect(await loaded(ask)).toEqual(['3'])
  cache.forget('a', 'users', '*')
  expect(await loaded(ask)).toEqual(['1', '2', '3'])
  cache.forget('*', 'users', '2')
  expect(await loaded(ask)).toEqual(['2'])
})

test('a value inherits the dependencies of the values it uses, cached or loaded', async () => {
  const { cache, load, loaded } = tabled()
  const inner = () => cache.cached('a', 'inner', load('inner', 'select * from roles'), { only: () => ({ roles: '1' }) })
  const outer = (name: string) => () =>
    cache.cached('a', name, async () => {
      await load(name, 'select * from users')()
      return inner()
    })
  const ask = async () => {
    await outer('first')()
    await outer('second')()
  }
  await ask()
  cache.forget('a', 'roles', '2')
  expect(await loaded(ask)).toEqual([])
  cache.forget('a', 'roles', '1')
  expect(await loaded(ask)).toEqual(['first', 'inner', 'second'])
  cache.forget('a', 'users', '7')
  expect(await loaded(ask)).toEqual(['first', 'second'])
})

test('a change while a value is loaded keeps it out only when it concerns it, be it the second of two', async () => {
  const { cache, load, loaded } = tabled()
  const begin = () => {
    const slow = Promise.withResolvers<void>()
    const value = cache.cached('a', 'n', async () => {
      await load('n', 'select * from users')()
      await slow.promise
    })
    return { slow, value }
  }
  const again = () => cache.cached('a', 'n', load('n', 'select * from users'))
  const apart = begin()
  cache.forget('a', 'roles', '1')
  apart.slow.resolve()
  await apart.value
  expect(await loaded(again)).toEqual([])
  cache.forget('a')
  const changed = begin()
  cache.forget('a', 'roles', '1')
  cache.forget('a', 'users', '1')
  changed.slow.resolve()
  await changed.value
  expect(await loaded(again)).toEqual(['n'])
})

test('a doubtful value is reloaded, serves no longer during an outage, and does not taint values loaded with it', async () => {
  const { clock, cache, store, ask } = followed()
  await ask()
  await clock.move(60_000)
  cache.doubt('a')
  store.value = 'new'
  store.fails = unavailable('lost')
  cache.heard()
  expect(await ask()).toBe('old')
  await clock.move(2_000)
  const outer = cache.cached('a', 'outer', () => ask())
  expect(await outer).toBe('old')
  store.fails = undefined
  await clock.move(2_000)
  expect(await cache.cached('a', 'outer', () => ask())).toBe('new')
  cache.doubt('*')
  store.fails = unavailable('lost')
  await clock.move(301_000)
  cache.heard()
  await expect(ask()).rejects.toThrow('lost')
})

test('missing values are loaded together and invalidated one by one', async () => {
  const { cache } = tabled()
  const requested: (readonly string[])[] = []
  const each = (ids: readonly string[]) =>
    cache.cachedEach(
      'a',
      ids,
      (id) => `user:${id}`,
      async (missing) => {
        requested.push([...missing])
        await Promise.resolve()
        currentReads.getStore()?.note('select * from users')
        return new Map(missing.filter((id) => id !== 'none').map((id) => [id, `value of ${id}`]))
      },
      (id) => ({ users: id }),
    )
  expect(await each(['1', '2', 'none'])).toEqual(['value of 1', 'value of 2', undefined])
  expect(await each(['3', '2', '1'])).toEqual(['value of 3', 'value of 2', 'value of 1'])
  cache.forget('a', 'users', '2')
  cache.forget('a', 'roles', '1')
  await each(['1', '2', '3', 'none'])
  expect(requested).toEqual([['1', '2', 'none'], ['3'], ['2']])
})
