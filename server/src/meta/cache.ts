import type { Clock } from '../clock.ts'
import { isUnavailable } from './driver.ts'

/** EVERYTHING stands for all organisations: forgotten, it is everything; as the owner of an entry, any change at all forgets the entry. */
export const EVERYTHING = '*'

/** A Cache remembers what was read of the metadata until it changes. What it gives out is shared: callers must not alter it. */
export type Cache = {
  cached<T>(orgId: string, name: string, load: () => Promise<T>): Promise<T>
  forget(orgId: string): void
  onChange(listener: (orgId: string) => void): () => void
  /** following says whether news of changes arrives. While it does not, every answer is loaded afresh. */
  following(arrives: boolean): void
  /** heard notes that the store answered just now, so what is kept was right until now. */
  heard(): void
}

type Entry = { orgId: string; value: unknown; loadedAtMs: number }
type Load = { orgId: string; promise: Promise<unknown>; isForgotten: boolean }

const ENTRIES_MAX = 50_000
/** FALLBACK_MS is how long an entry may stand in for a store that cannot be asked, from when it was last known to be right. */
const FALLBACK_MS = 300_000
/** PATIENCE_MS is how long a caller waits for a silent store when there is something to fall back on. */
const PATIENCE_MS = 500
/** TROUBLE_MS is how long after a failed load others do not even try, so that an outage costs one caller the wait and not each. */
const TROUBLE_MS = 1_000

const GAVE_UP = Symbol('gave up')

export function openCache(clock: Clock, entriesMax = ENTRIES_MAX): Cache {
  /** entries are in order of their last use. */
  const entries = new Map<string, Entry>()
  const names = new Map<string, Set<string>>()
  const loads = new Map<string, Load>()
  const listeners = new Set<(orgId: string) => void>()
  let isFollowing = false
  let heardAtMs = clock.monotonicMs()
  let troubleAtMs = Number.NEGATIVE_INFINITY

  function remove(key: string): void {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    const keys = names.get(entry.orgId)
    keys?.delete(key)
    if (keys?.size === 0) names.delete(entry.orgId)
  }

  function store(key: string, entry: Entry): void {
    remove(key)
    entries.set(key, entry)
    const keys = names.get(entry.orgId) ?? new Set()
    names.set(entry.orgId, keys.add(key))
    const oldest = entries.keys().next()
    if (entries.size > entriesMax && !oldest.done) remove(oldest.value)
  }

  function touch(key: string, entry: Entry): void {
    entries.delete(key)
    entries.set(key, entry)
  }

  function start(key: string, orgId: string, load: () => Promise<unknown>): Load {
    const started: Load = { orgId, isForgotten: false, promise: Promise.resolve() }
    const loadedAtMs = clock.monotonicMs()
    started.promise = (async () => {
      try {
        const value = await load()
        if (!started.isForgotten) store(key, { orgId, value, loadedAtMs })
        return value
      } finally {
        if (loads.get(key) === started) loads.delete(key)
      }
    })()
    loads.set(key, started)
    return started
  }

  async function loadOrFallBack(key: string, entry: Entry, loading: Promise<unknown>): Promise<unknown> {
    const waiting = new AbortController()
    const patience = clock.sleep(PATIENCE_MS, waiting.signal).then(
      () => GAVE_UP,
      () => GAVE_UP,
    )
    try {
      const value = await Promise.race([loading, patience])
      if (value !== GAVE_UP) return value
    } catch (cause) {
      // Forgotten meanwhile: then it is known to be wrong.
      if (!isUnavailable(cause) || entries.get(key) !== entry) throw cause
    } finally {
      waiting.abort()
    }
    troubleAtMs = clock.monotonicMs()
    return entries.get(key) === entry ? entry.value : loading
  }

  return {
    cached: async <T>(orgId: string, name: string, load: () => Promise<T>): Promise<T> => {
      const key = `${orgId}\n${name}`
      const entry = entries.get(key)
      if (entry && isFollowing) {
        touch(key, entry)
        return entry.value as T
      }
      const nowMs = clock.monotonicMs()
      const canFallBack = entry !== undefined && nowMs - Math.max(entry.loadedAtMs, heardAtMs) <= FALLBACK_MS
      if (canFallBack && nowMs - troubleAtMs < TROUBLE_MS) return entry.value as T
      const loading = (loads.get(key) ?? start(key, orgId, load)).promise
      loading.catch(() => undefined)
      return (canFallBack ? loadOrFallBack(key, entry, loading) : loading) as Promise<T>
    },
    forget: (orgId) => {
      const isAll = orgId === EVERYTHING
      for (const key of isAll ? [...entries.keys()] : [...(names.get(orgId) ?? []), ...(names.get(EVERYTHING) ?? [])]) remove(key)
      // What began to load before the change may have read what was before it: it is neither kept nor shared with later callers.
      for (const [key, load] of loads) {
        if (!isAll && load.orgId !== orgId && load.orgId !== EVERYTHING) continue
        load.isForgotten = true
        loads.delete(key)
      }
      for (const listener of listeners) listener(orgId)
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    following: (arrives) => {
      isFollowing = arrives
    },
    heard: () => {
      heardAtMs = clock.monotonicMs()
    },
  }
}
