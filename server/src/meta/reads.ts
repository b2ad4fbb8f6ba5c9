import { AsyncLocalStorage } from 'node:async_hooks'

/** The ids of the rows that matter, or ALL rows of a table. */
export type RowSet = ReadonlySet<string> | typeof ALL

/** A change of one row. '*' stands for every organization, table or id. */
export type MetaChange = { orgId: string; table: string; id: string }

export const ALL = '*'

/** Tracks what a load has read: the text of its statements, and the rows behind the cached values it used. */
export class ReadTracker {
  readonly #texts = new Set<string>()
  readonly #used = new Map<string, RowSet>()
  /** True after using a cached value with unknown dependencies. */
  #isOpen = false
  /** True after using a cached value that replaced an unavailable store. */
  isStale = false

  note(text: string): void {
    this.#texts.add(text)
  }

  markStale(): void {
    this.isStale = true
  }

  /** Adds what was read on behalf of several loads. */
  noteAll(others: ReadTracker): void {
    for (const text of others.#texts) this.#texts.add(text)
    addTo(this.#used, others.#used)
    this.#isOpen ||= others.#isOpen
    this.isStale ||= others.isStale
  }

  /** Adds the dependencies of a cached value; undefined when they are unknown. */
  use(rows: ReadonlyMap<string, RowSet> | undefined): void {
    if (rows === undefined) this.#isOpen = true
    else addTo(this.#used, rows)
  }

  /**
   * Returns the rows that the loaded value depends on, among the tables with change notifications. Undefined when nothing is known, so that
   * any change may affect it. `only` names the one row of a table that the load's own statements read.
   */
  rows(watched: RegExp | undefined, only: Readonly<Record<string, string>>): ReadonlyMap<string, RowSet> | undefined {
    if (this.#isOpen) return undefined
    const rows = new Map(this.#used)
    for (const text of watched ? this.#texts : []) {
      for (const [table] of text.matchAll(watched as RegExp)) {
        const id = only[table]
        addTo(rows, new Map([[table, id === undefined ? ALL : new Set([id])]]))
      }
    }
    return rows.size === 0 ? undefined : rows
  }
}

function addTo(rows: Map<string, RowSet>, more: ReadonlyMap<string, RowSet>): void {
  for (const [table, added] of more) {
    const known = rows.get(table)
    rows.set(table, known === ALL || added === ALL ? ALL : new Set([...(known ?? []), ...added]))
  }
}

/** Matches table names in the text of a statement. A column with the name of a table also matches, which only invalidates too often. */
export const tablesIn = (tables: readonly string[]): RegExp | undefined =>
  tables.length === 0 ? undefined : new RegExp(`\\b(?:${tables.join('|')})\\b`, 'g')

/** The tracker of the running load, if any. */
export const currentReads = new AsyncLocalStorage<ReadTracker>()
