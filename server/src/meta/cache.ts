import type { Clock } from '../clock.ts'
import { isUnavailable } from './driver.ts'

/** EVERYTHING stands for all organisations: forgotten, it is everything; as the owner of an entry, any change at all forgets the entry. */
const EVERYTHING = '*'

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

/** A Cache remembers what was read of the metadata until it changes. What it gives out is shared: callers must not alter it. */
export class Cache {
  readonly #clock: Clock
  readonly #entriesMax: number
  /** #entries are in order of their last use, as far as it was noted. */
  readonly #entries = new Map<string, Entry>()
  readonly #keys = new Map<string, Set<string>>()
  readonly #loads = new Map<string, Load>()
  readonly #listeners = new Set<(orgId: string) => void>()
  #isFollowing = false
  #heardAtMs: number
  #troubleAtMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, entriesMax = ENTRIES_MAX) {
    this.#clock = clock
    this.#entriesMax = entriesMax
    this.#heardAtMs = clock.monotonicMs()
  }

  async cached<T>(orgId: string, name: string, load: () => Promise<T>, ageMaxMs = Number.POSITIVE_INFINITY): Promise<T> {
    const key = `${orgId}\n${name}`
    const entry = this.#entries.get(key)
    if (entry && this.#isRight(entry, ageMaxMs)) return this.#used(key, entry) as T
    const nowMs = this.#clock.monotonicMs()
    const canFallBack = entry !== undefined && nowMs - Math.max(entry.loadedAtMs, this.#heardAtMs) <= FALLBACK_MS
    if (canFallBack && nowMs - this.#troubleAtMs < TROUBLE_MS) return entry.value as T
    const loading = (this.#loads.get(key) ?? this.#start(key, orgId, load)).promise
    loading.catch(() => undefined)
    return (canFallBack ? this.#loadOrFallBack(key, entry, loading) : loading) as Promise<T>
  }

  /** remembered is what `cached` would answer from memory right now, or undefined; it never waits and never loads. */
  remembered<T>(orgId: string, name: string): T | undefined {
    const key = `${orgId}\n${name}`
    const entry = this.#entries.get(key)
    return entry && this.#isRight(entry, Number.POSITIVE_INFINITY) ? (this.#used(key, entry) as T) : undefined
  }

  /** forget drops what belongs to the organisation, or everything for '*', and tells the listeners. */
  forget(orgId: string): void {
    const isAll = orgId === EVERYTHING
    const keys = isAll ? [...this.#entries.keys()] : [...(this.#keys.get(orgId) ?? []), ...(this.#keys.get(EVERYTHING) ?? [])]
    for (const key of keys) this.#remove(key)
    // What began to load before the change may have read what was before it: it is neither kept nor shared with later callers.
    for (const [key, load] of this.#loads) {
      if (!isAll && load.orgId !== orgId && load.orgId !== EVERYTHING) continue
      load.isForgotten = true
      this.#loads.delete(key)
    }
    for (const listener of this.#listeners) listener(orgId)
  }

  onChange(listener: (orgId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** following says whether news of changes arrives. While it does not, every answer is loaded afresh. */
  following(arrives: boolean): void {
    this.#isFollowing = arrives
  }

  /** heard notes that the store answered just now, so what is kept was right until now. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs()
  }

  #isRight(entry: Entry, ageMaxMs: number): boolean {
    return this.#isFollowing && (ageMaxMs === Number.POSITIVE_INFINITY || this.#clock.monotonicMs() - entry.loadedAtMs <= ageMaxMs)
  }

  /** #used notes the use of an entry; while half of the places are free nothing has to leave, and the order does not matter. */
  #used(key: string, entry: Entry): unknown {
    if (this.#entries.size > this.#entriesMax / 2) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry.value
  }

  #start(key: string, orgId: string, load: () => Promise<unknown>): Load {
    const started: Load = { orgId, isForgotten: false, promise: Promise.resolve() }
    const loadedAtMs = this.#clock.monotonicMs()
    started.promise = (async () => {
      try {
        const value = await load()
        if (!started.isForgotten) this.#store(key, { orgId, value, loadedAtMs })
        return value
      } finally {
        if (this.#loads.get(key) === started) this.#loads.delete(key)
      }
    })()
    this.#loads.set(key, started)
    return started
  }

  async #loadOrFallBack(key: string, entry: Entry, loading: Promise<unknown>): Promise<unknown> {
    const waiting = new AbortController()
    const giveUp = () => GAVE_UP
    try {
      const value = await Promise.race([loading, this.#clock.sleep(PATIENCE_MS, waiting.signal).then(giveUp, giveUp)])
      if (value !== GAVE_UP) return value
    } catch (cause) {
      // Forgotten meanwhile: then it is known to be wrong.
      if (!isUnavailable(cause) || this.#entries.get(key) !== entry) throw cause
    } finally {
      waiting.abort()
    }
    this.#troubleAtMs = this.#clock.monotonicMs()
    return this.#entries.get(key) === entry ? entry.value : loading
  }

  #store(key: string, entry: Entry): void {
    this.#remove(key)
    this.#entries.set(key, entry)
    const keys = this.#keys.get(entry.orgId) ?? new Set()
    this.#keys.set(entry.orgId, keys.add(key))
    const oldest = this.#entries.keys().next()
    if (this.#entries.size > this.#entriesMax && !oldest.done) this.#remove(oldest.value)
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    const keys = this.#keys.get(entry.orgId)
    keys?.delete(key)
    if (keys?.size === 0) this.#keys.delete(entry.orgId)
  }
}
