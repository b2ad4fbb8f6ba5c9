import { ALL, type Change, type Rows } from './reads.ts'

/** An Entry is a value that was read, and what it depends on; without rows any change of its organization concerns it. */
export type Entry = {
  orgId: string
  value: unknown
  loadedAtMs: number
  rows: ReadonlyMap<string, Rows> | undefined
  /** doubtedMs is until when it was known to be right, once a change may have been missed. */
  doubtedMs?: number
}

/** concerns says whether a change may alter what was read. */
export function concerns({ orgId, table, id }: Change, entry: Pick<Entry, 'orgId' | 'rows'>): boolean {
  if (orgId !== ALL && entry.orgId !== ALL && orgId !== entry.orgId) return false
  if (table === ALL || entry.rows === undefined) return true
  const rows = entry.rows.get(table)
  return rows !== undefined && (rows === ALL || id === ALL || rows.has(id))
}

/** CacheEntries are entries by key, in the order of their last use as far as it was noted, found by what they depend on. */
export class CacheEntries {
  readonly #entries = new Map<string, Entry>()
  /** #keys are the keys of entries under each of the names by which a change finds them. */
  readonly #keys = new Map<string, Set<string>>()

  get size(): number {
    return this.#entries.size
  }

  get(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  /** toEnd makes the entry the one used last. */
  toEnd(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  oldest(): string | undefined {
    return this.#entries.keys().next().value
  }

  set(key: string, entry: Entry): void {
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

  /** concerned are the keys of the entries that a change may alter. */
  concerned(change: Change): string[] {
    if (change.orgId === ALL) return [...this.#entries].flatMap(([key, entry]) => (concerns(change, entry) ? [key] : []))
    const keys = [change.orgId, ALL].flatMap((orgId) => namesFor({ ...change, orgId }).flatMap((name) => [...(this.#keys.get(name) ?? [])]))
    return [...new Set(keys)]
  }
}

const SEPARATOR = '\n'
const nameOf = (...parts: readonly string[]): string => parts.join(SEPARATOR)

/** namesOf are the names under which an entry is found: its organization, each table, and there each row that matters. */
function namesOf({ orgId, rows }: Entry): string[] {
  if (rows === undefined) return [orgId, nameOf(orgId, ALL)]
  const names = [...rows].flatMap(([table, ids]) => {
    const each = ids === ALL ? [ALL] : [...ids]
    return [nameOf(orgId, table), ...each.map((id) => nameOf(orgId, table, id))]
  })
  return [orgId, ...names]
}

/** namesFor are the names that a change of one organization looks under. */
function namesFor({ orgId, table, id }: Change): string[] {
  if (table === ALL) return [orgId]
  const unknown = nameOf(orgId, ALL)
  return id === ALL ? [nameOf(orgId, table), unknown] : [nameOf(orgId, table, id), nameOf(orgId, table, ALL), unknown]
}
