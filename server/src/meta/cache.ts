import type { Clock } from '../kernel/clock.ts'
import { Recent } from '../kernel/recent.ts'
import { CacheEntries, type CacheEntry, concerns } from './cache-entries.ts'
import { isUnavailable } from './driver.ts'
import { ALL, currentReads, type MetaChange, ReadTracker, tablesIn } from './reads.ts'
import { RowList, type RowSource } from './row-list.ts'

/** A running load, with the changes of its organization since it began. */
type Load = { key: string; orgId: string; promise: Promise<unknown>; changes: MetaChange[] }

type CacheAnswer = { value: unknown; isStale: boolean }

/** `ageMaxMs` limits the age of the value. `only` names, for the loaded value, the one row of a table that matters. */
export type CacheOptions<T> = { ageMaxMs?: number; only?: (value: T) => Readonly<Record<string, string>> }

const ENTRIES_MAX = 50_000
/** Lists of rows by organization and name. */
const LISTS_MAX = 1_000
/** How long a cached value may replace an unavailable store, from when it was last known to be correct. */
const FALLBACK_MS = 300_000
/** How long a caller waits for a silent store when a cached value can replace the answer. */
const FALLBACK_WAIT_MS = 500
/** How long after a failed load other callers use their cached value at once, so that an outage delays one caller and not each. */
const TROUBLE_MS = 1_000

const GAVE_UP = Symbol('gave up')

/**
 * Caches what was read from the metadata until it changes. The cache detects which tables a load reads and invalidates by table and row.
 * Cached values are shared, so callers must not modify them. The organization '*' stands for all: a change of '*' affects every
 * organization, and an entry of '*' is affected by the changes of each.
 */
export class Cache {
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #watched: RegExp | undefined
  readonly #entries = new CacheEntries()
  /** #loads can be shared by callers; #running are all. */
  readonly #loads = new Map<string, Load>()
  readonly #running = new Set<Load>()
  readonly #lists = new Recent<string, { orgId: string; tables: readonly string[]; list: RowList<never> }>(LISTS_MAX)
  readonly #listeners = new Set<(orgId: string, table: string, id: string) => void>()
  #isFollowing = false
  #heardAtMs: number
  #troubleAtMs = Number.NEGATIVE_INFINITY

  /**
   * `watched` are the tables with change notifications. A value that depends on any other table is invalidated by every change in its
   * organization.
   */
  constructor(clock: Clock, entriesMax = ENTRIES_MAX, watched: readonly string[] = []) {
    this.#clock = clock
    this.#entriesMax = entriesMax
    this.#watched = tablesIn(watched)
    this.#heardAtMs = clock.monotonicMs()
  }

  async cached<T>(orgId: string, name: string, load: () => Promise<T>, options: CacheOptions<T> = {}): Promise<T> {
    const key = `${orgId}\n${name}`
    const outer = currentReads.getStore()
    try {
      const { value, isStale } = await this.#answer(key, orgId, load, options)
      if (isStale) outer?.markStale()
      return value as T
    } finally {
      // After a failure its dependencies are unknown.
      outer?.use(this.#entries.get(key)?.rows)
    }
  }

  /** Returns many values at once, in the order of the ids. Each is cached separately; missing ones are loaded together. */
  cachedEach<T>(
    orgId: string,
    ids: readonly string[],
    nameOf: (id: string) => string,
    loadAll: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    only?: (id: string) => Readonly<Record<string, string>>,
  ): Promise<(T | undefined)[]> {
    const missing: string[] = []
    let loading: Promise<{ values: ReadonlyMap<string, T>; reads: ReadTracker }> | undefined
    const loadMissing = async () => {
      // All missing ids are known after the current microtask.
      await Promise.resolve()
      const reads = new ReadTracker()
      return { reads, values: await currentReads.run(reads, () => loadAll(missing)) }
    }
    const each = (id: string) => async (): Promise<T | undefined> => {
      missing.push(id)
      loading ??= loadMissing()
      const { reads, values } = await loading
      currentReads.getStore()?.noteAll(reads)
      return values.get(id)
    }
    return Promise.all(ids.map((id) => this.cached(orgId, nameOf(id), each(id), only ? { only: () => only(id) } : {})))
  }

  /** `cached` for a list of rows. After a change, only the rows that changed are read, and all others stay the same objects. */
  cachedRows<Row extends { id: string; created_at: number }>(orgId: string, name: string, source: RowSource<Row>): Promise<readonly Row[]> {
    const tables = Object.keys(source.idsIn)
    return this.cached(orgId, name, async () => {
      const { list } = this.#lists.of(`${orgId}\n${name}`, () => ({ orgId, tables, list: new RowList<never>() }))
      // Nothing says which rows have changed.
      if (!this.#isFollowing) list.reset()
      // The value depends on the tables also when no row has to be read.
      currentReads.getStore()?.note(tables.join(' '))
      return (list as unknown as RowList<Row>).read(source)
    })
  }

  /** Returns what `cached` would return from memory now, or undefined. Never waits and never loads. */
  remembered<T>(orgId: string, name: string): T | undefined {
    const key = `${orgId}\n${name}`
    const entry = this.#entries.get(key)
    if (!entry || !this.#isCurrent(entry, Number.POSITIVE_INFINITY)) return undefined
    currentReads.getStore()?.use(entry.rows)
    return this.#used(key, entry) as T
  }

  /** Removes the entries that a change may affect (all of the organization unless table and id are given) and notifies the listeners. */
  forget(orgId: string, table: string = ALL, id: string = ALL): void {
    const change = { orgId, table, id }
    for (const key of this.#entries.concerned(change)) this.#entries.remove(key)
    this.#notify(change)
  }

  /**
   * Call it when changes of an organization may have been missed. Everything is reloaded, but old values may still replace an unavailable
   * store, for no longer than before.
   */
  doubt(orgId: string): void {
    const change = { orgId, table: ALL, id: ALL }
    for (const key of this.#entries.concerned(change)) {
      const entry = this.#entries.get(key)
      if (entry) entry.doubtedMs ??= this.#knownUntilMs(entry)
    }
    this.#notify(change)
  }

  /** Stops later callers from sharing loads that began before a change: they may have read the old state. */
  #notify(change: MetaChange): void {
    for (const load of this.#running) {
      if (!concerns(change, { orgId: load.orgId, rows: undefined })) continue
      load.changes.push(change)
      if (this.#loads.get(load.key) === load) this.#loads.delete(load.key)
    }
    for (const { orgId, tables, list } of this.#lists.values()) {
      const isOfOrganization = change.orgId === ALL || orgId === change.orgId
      if (isOfOrganization && (change.table === ALL || tables.includes(change.table))) list.note(change.table, change.id)
    }
    for (const listener of this.#listeners) listener(change.orgId, change.table, change.id)
  }

  onChange(listener: (orgId: string, table: string, id: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Sets whether change notifications arrive. While they do not, every answer is loaded. */
  following(arrives: boolean): void {
    this.#isFollowing = arrives
  }

  /** Call it when the store answered: cached values were correct until now. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs()
    this.#troubleAtMs = Number.NEGATIVE_INFINITY
  }

  #isCurrent(entry: CacheEntry, ageMaxMs: number): boolean {
    return (
      this.#isFollowing &&
      entry.doubtedMs === undefined &&
      (ageMaxMs === Number.POSITIVE_INFINITY || this.#clock.monotonicMs() - entry.loadedAtMs <= ageMaxMs)
    )
  }

  /** Records the use of an entry. While the cache is at most half full nothing is evicted, so the order does not matter. */
  #used(key: string, entry: CacheEntry): unknown {
    if (this.#entries.size > this.#entriesMax / 2) this.#entries.toEnd(key, entry)
    return entry.value
  }

  /** The answer is stale when it replaces an unavailable store. */
  async #answer<T>(
    key: string,
    orgId: string,
    load: () => Promise<T>,
    { ageMaxMs = Number.POSITIVE_INFINITY, only }: CacheOptions<T>,
  ): Promise<CacheAnswer> {
    const entry = this.#entries.get(key)
    if (entry && this.#isCurrent(entry, ageMaxMs)) return { value: this.#used(key, entry), isStale: false }
    const nowMs = this.#clock.monotonicMs()
    const canFallBack = entry !== undefined && nowMs - (entry.doubtedMs ?? this.#knownUntilMs(entry)) <= FALLBACK_MS
    if (canFallBack && nowMs - this.#troubleAtMs < TROUBLE_MS) return { value: entry.value, isStale: true }
    const loading = (this.#loads.get(key) ?? this.#start(key, orgId, load, only)).promise
    loading.catch(() => undefined)
    return canFallBack ? this.#loadOrFallBack(key, entry, loading) : { value: await loading, isStale: false }
  }

  #knownUntilMs(entry: CacheEntry): number {
    return Math.max(entry.loadedAtMs, this.#heardAtMs)
  }

  #start<T>(key: string, orgId: string, load: () => Promise<T>, only: CacheOptions<T>['only']): Load {
    const started: Load = { key, orgId, changes: [], promise: Promise.resolve() }
    const loadedAtMs = this.#clock.monotonicMs()
    const reads = new ReadTracker()
    started.promise = (async () => {
      try {
        const value = await currentReads.run(reads, load)
        const rows = reads.rows(this.#watched, only?.(value) ?? {})
        const isChanged = started.changes.some((change) => concerns(change, { orgId, rows }))
        if (!isChanged && !reads.isStale) this.#store(key, { orgId, value, loadedAtMs, rows })
        return value
      } finally {
        this.#running.delete(started)
        if (this.#loads.get(key) === started) this.#loads.delete(key)
      }
    })()
    this.#running.add(started)
    this.#loads.set(key, started)
    return started
  }

  async #loadOrFallBack(key: string, entry: CacheEntry, loading: Promise<unknown>): Promise<CacheAnswer> {
    const waiting = new AbortController()
    const giveUp = () => GAVE_UP
    try {
      const value = await Promise.race([loading, this.#clock.sleep(FALLBACK_WAIT_MS, waiting.signal).then(giveUp, giveUp)])
      if (value !== GAVE_UP) return { value, isStale: false }
    } catch (cause) {
      // An entry that was removed in the meantime is known to be outdated.
      if (!isUnavailable(cause) || this.#entries.get(key) !== entry) throw cause
    } finally {
      waiting.abort()
    }
    this.#troubleAtMs = this.#clock.monotonicMs()
    return this.#entries.get(key) === entry ? { value: entry.value, isStale: true } : { value: await loading, isStale: false }
  }

  #store(key: string, entry: CacheEntry): void {
    this.#entries.set(key, entry)
    const oldest = this.#entries.oldest()
    if (this.#entries.size > this.#entriesMax && oldest !== undefined) this.#entries.remove(oldest)
  }
}
