import type { Clock } from '../kernel/clock.ts'
import { CacheEntries, concerns, type Entry } from './cache-entries.ts'
import { isUnavailable } from './driver.ts'
import { ALL, type Change, Reads, reading, tablesIn } from './reads.ts'

/** A Load is under way; changes are those of its organization since it began. */
type Load = { key: string; orgId: string; promise: Promise<unknown>; changes: Change[] }

type Answer = { value: unknown; isStale: boolean }

/** A Wish is what is asked of the cache beside a value: how old it may be, and of which tables only one row matters, when the value is known. */
export type Wish<T> = { ageMaxMs?: number; only?: (value: T) => Readonly<Record<string, string>> }

const ENTRIES_MAX = 50_000
/** FALLBACK_MS is how long an entry may stand in for a store that cannot be asked, from when it was last known to be right. */
const FALLBACK_MS = 300_000
/** PATIENCE_MS is how long a caller waits for a silent store when there is something to fall back on. */
const PATIENCE_MS = 500
/** TROUBLE_MS is how long after a failed load others do not even try, so that an outage costs one caller the wait and not each. */
const TROUBLE_MS = 1_000

const GAVE_UP = Symbol('gave up')

/**
 * A Cache remembers what was read of the metadata until it changes. It sees by itself which tables a load reads, and forgets by table and row. What it
 * gives out is shared: callers must not alter it. The organization '*' stands for all: a change of '*' concerns every organization, and an entry of '*'
 * is concerned by the changes of each.
 */
export class Cache {
  readonly #clock: Clock
  readonly #entriesMax: number
  readonly #watched: RegExp | undefined
  readonly #entries = new CacheEntries()
  /** #loads are those that callers may share; #running are all. */
  readonly #loads = new Map<string, Load>()
  readonly #running = new Set<Load>()
  readonly #listeners = new Set<(orgId: string, table: string, id: string) => void>()
  #isFollowing = false
  #heardAtMs: number
  #troubleAtMs = Number.NEGATIVE_INFINITY

  /** watched are the tables whose changes are told; what a load reads of others makes any change of its organization concern it. */
  constructor(clock: Clock, entriesMax = ENTRIES_MAX, watched: readonly string[] = []) {
    this.#clock = clock
    this.#entriesMax = entriesMax
    this.#watched = tablesIn(watched)
    this.#heardAtMs = clock.monotonicMs()
  }

  async cached<T>(orgId: string, name: string, load: () => Promise<T>, wish: Wish<T> = {}): Promise<T> {
    const key = `${orgId}\n${name}`
    const outer = reading.getStore()
    try {
      const { value, isStale } = await this.#answer(key, orgId, load, wish)
      if (isStale) outer?.spoil()
      return value as T
    } finally {
      // Where it failed nothing is known of what that hung on.
      outer?.use(this.#entries.get(key)?.rows)
    }
  }

  /**
   * cachedEach gives the values of many at once, in the order of their ids, each remembered by itself; those that are not remembered are loaded together.
   */
  cachedEach<T>(
    orgId: string,
    ids: readonly string[],
    nameOf: (id: string) => string,
    loadAll: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    only?: (id: string) => Readonly<Record<string, string>>,
  ): Promise<(T | undefined)[]> {
    const missing: string[] = []
    let loading: Promise<{ values: ReadonlyMap<string, T>; reads: Reads }> | undefined
    const together = async () => {
      // All that are missing are known when the present turn is over.
      await Promise.resolve()
      const reads = new Reads()
      return { reads, values: await reading.run(reads, () => loadAll(missing)) }
    }
    const each = (id: string) => async (): Promise<T | undefined> => {
      missing.push(id)
      loading ??= together()
      const { reads, values } = await loading
      reading.getStore()?.noteAll(reads)
      return values.get(id)
    }
    return Promise.all(ids.map((id) => this.cached(orgId, nameOf(id), each(id), only ? { only: () => only(id) } : {})))
  }

  /** remembered is what `cached` would answer from memory right now, or undefined; it never waits and never loads. */
  remembered<T>(orgId: string, name: string): T | undefined {
    const key = `${orgId}\n${name}`
    const entry = this.#entries.get(key)
    if (!entry || !this.#isRight(entry, Number.POSITIVE_INFINITY)) return undefined
    reading.getStore()?.use(entry.rows)
    return this.#used(key, entry) as T
  }

  /** forget drops what a change may have altered (all of the organization unless table and id are named) and tells the listeners. */
  forget(orgId: string, table: string = ALL, id: string = ALL): void {
    const change = { orgId, table, id }
    for (const key of this.#entries.concerned(change)) this.#entries.remove(key)
    this.#tell(change)
  }

  /**
   * doubt is for when changes of an organization may have been missed: all is loaded anew, and what was known may still stand in for a store that is lost,
   * no longer than before.
   */
  doubt(orgId: string): void {
    const change = { orgId, table: ALL, id: ALL }
    for (const key of this.#entries.concerned(change)) {
      const entry = this.#entries.get(key)
      if (entry) entry.doubtedMs ??= this.#knownUntilMs(entry)
    }
    this.#tell(change)
  }

  /** #tell keeps later callers from sharing the loads that began before a change: they may have read what was before it. */
  #tell(change: Change): void {
    for (const load of this.#running) {
      if (!concerns(change, { orgId: load.orgId, rows: undefined })) continue
      load.changes.push(change)
      if (this.#loads.get(load.key) === load) this.#loads.delete(load.key)
    }
    for (const listener of this.#listeners) listener(change.orgId, change.table, change.id)
  }

  onChange(listener: (orgId: string, table: string, id: string) => void): () => void {
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
    this.#troubleAtMs = Number.NEGATIVE_INFINITY
  }

  #isRight(entry: Entry, ageMaxMs: number): boolean {
    return (
      this.#isFollowing &&
      entry.doubtedMs === undefined &&
      (ageMaxMs === Number.POSITIVE_INFINITY || this.#clock.monotonicMs() - entry.loadedAtMs <= ageMaxMs)
    )
  }

  /** #used notes the use of an entry; while half of the places are free nothing has to leave, and the order does not matter. */
  #used(key: string, entry: Entry): unknown {
    if (this.#entries.size > this.#entriesMax / 2) this.#entries.toEnd(key, entry)
    return entry.value
  }

  /** #answer is stale when it only stands in for a store that is lost. */
  async #answer<T>(
    key: string,
    orgId: string,
    load: () => Promise<T>,
    { ageMaxMs = Number.POSITIVE_INFINITY, only }: Wish<T>,
  ): Promise<Answer> {
    const entry = this.#entries.get(key)
    if (entry && this.#isRight(entry, ageMaxMs)) return { value: this.#used(key, entry), isStale: false }
    const nowMs = this.#clock.monotonicMs()
    const canFallBack = entry !== undefined && nowMs - (entry.doubtedMs ?? this.#knownUntilMs(entry)) <= FALLBACK_MS
    if (canFallBack && nowMs - this.#troubleAtMs < TROUBLE_MS) return { value: entry.value, isStale: true }
    const loading = (this.#loads.get(key) ?? this.#start(key, orgId, load, only)).promise
    loading.catch(() => undefined)
    return canFallBack ? this.#loadOrFallBack(key, entry, loading) : { value: await loading, isStale: false }
  }

  #knownUntilMs(entry: Entry): number {
    return Math.max(entry.loadedAtMs, this.#heardAtMs)
  }

  #start<T>(key: string, orgId: string, load: () => Promise<T>, only: Wish<T>['only']): Load {
    const started: Load = { key, orgId, changes: [], promise: Promise.resolve() }
    const loadedAtMs = this.#clock.monotonicMs()
    const reads = new Reads()
    started.promise = (async () => {
      try {
        const value = await reading.run(reads, load)
        const rows = reads.rows(this.#watched, only?.(value) ?? {})
        const isChanged = started.changes.some((change) => concerns(change, { orgId, rows }))
        if (!isChanged && !reads.isSpoiled) this.#store(key, { orgId, value, loadedAtMs, rows })
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

  async #loadOrFallBack(key: string, entry: Entry, loading: Promise<unknown>): Promise<Answer> {
    const waiting = new AbortController()
    const giveUp = () => GAVE_UP
    try {
      const value = await Promise.race([loading, this.#clock.sleep(PATIENCE_MS, waiting.signal).then(giveUp, giveUp)])
      if (value !== GAVE_UP) return { value, isStale: false }
    } catch (cause) {
      // Forgotten meanwhile: then it is known to be wrong.
      if (!isUnavailable(cause) || this.#entries.get(key) !== entry) throw cause
    } finally {
      waiting.abort()
    }
    this.#troubleAtMs = this.#clock.monotonicMs()
    return this.#entries.get(key) === entry ? { value: entry.value, isStale: true } : { value: await loading, isStale: false }
  }

  #store(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
    const oldest = this.#entries.oldest()
    if (this.#entries.size > this.#entriesMax && oldest !== undefined) this.#entries.remove(oldest)
  }
}
