import { ALL, type MetaChange, type RowSet } from './reads.ts'

/** A cached value and the rows it depends on. Without `rows`, any change in its organization invalidates it. */
export type CacheEntry = {
  orgId: string
  value: unknown
  loadedAtMs: number
  rows: ReadonlyMap<string, RowSet> | undefined
  /** Set once a change may have been missed: the time until which the value was known to be correct. */
  doubtedMs?: number
}

/** Whether a change may affect the cached value. */
export function concerns({ orgId, table, id }: MetaChange, entry: Pick<CacheEntry, 'orgId' | 'rows'>): boolean {
  if (orgId !== ALL && entry.orgId !== ALL && orgId !== entry.orgId) return false
  if (table === ALL || entry.rows === undefined) return true
  const rows = entry.rows.get(table)
  return rows !== undefined && (rows === ALL || id === ALL || rows.has(id))
}

/** Cache entries by key, in LRU order, indexed by the rows they depend on. */
export class CacheEntries {
  readonly #entries = new Map<string, CacheEntry>()
  /** Entry keys by index name. A change finds the entries it affects through these names. */
  readonly #keys = new Map<string, Set<string>>()

  get size(): number {
    return this.#entries.size
  }

  get(key: string): CacheEntry | undefined {
    return this.#entries.get(key)
  }

  /** Marks the entry as the most recently used. */
  toEnd(key: string, entry: CacheEntry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  oldest(): string | undefined {
    return this.#entries.keys().next().value
  }

  set(key: string, entry: CacheEntry): void {
    this.remove(key)
    this.#entries.set(key, entry)
    for (const name of namesOf(entry)) {
      const keys = this.#keys.get(name)
      if (keys) keys.add(key)
      else this.#keys.set(name, new Set([key]))
    }
  }

  remove(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    for (const name of namesOf(entry)) {
      const keys = this.#keys.get(name)
      keys?.delete(key)
      if (keys?.size === 0) this.#keys.delete(name)
    }
  }

  /** Returns the keys of the entries that a change may affect. */
  concerned(change: MetaChange): string[] {
    if (change.orgId === ALL) return [...this.#entries].flatMap(([key, entry]) => (concerns(change, entry) ? [key] : []))
    const keys = [change.orgId, ALL].flatMap((orgId) => namesFor({ ...change, orgId }).flatMap((name) => [...(this.#keys.get(name) ?? [])]))
    return [...new Set(keys)]
  }
}

const SEPARATOR = '\n'
const nameOf = (...parts: readonly string[]): string => parts.join(SEPARATOR)

/** The index names of an entry: its organization, each table, and each row of a table that it depends on. */
function namesOf({ orgId, rows }: CacheEntry): string[] {
  if (rows === undefined) return [orgId, nameOf(orgId, ALL)]
  const names = [...rows].flatMap(([table, ids]) => {
    const each = ids === ALL ? [ALL] : [...ids]
    return [nameOf(orgId, table), ...each.map((id) => nameOf(orgId, table, id))]
  })
  return [orgId, ...names]
}

/** The index names that a change has to look up. */
function namesFor({ orgId, table, id }: MetaChange): string[] {
  if (table === ALL) return [orgId]
  const unknown = nameOf(orgId, ALL)
  return id === ALL ? [nameOf(orgId, table), unknown] : [nameOf(orgId, table, id), nameOf(orgId, table, ALL), unknown]
}
