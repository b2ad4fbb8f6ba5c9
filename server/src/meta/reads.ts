import { AsyncLocalStorage } from 'node:async_hooks'

/** Ids of rows that matter, or ALL rows of a table. */
export type Rows = ReadonlySet<string> | typeof ALL

/** A Change is of one row; '*' stands for every organization, table or id. */
export type Change = { orgId: string; table: string; id: string }

export const ALL = '*'

/** Reads are what a load has read so far: the texts of its own statements, and the rows behind cached values that it used. */
export class Reads {
  readonly #texts = new Set<string>()
  readonly #used = new Map<string, Rows>()
  /** #isOpen: a value was used of which nobody knows what it depends on. */
  #isOpen = false
  /** isSpoiled: a value was used that only stood in for a store that is lost. */
  isSpoiled = false

  note(text: string): void {
    this.#texts.add(text)
  }

  spoil(): void {
    this.isSpoiled = true
  }

  /** noteAll adds what was read on behalf of several loads. */
  noteAll(others: Reads): void {
    for (const text of others.#texts) this.#texts.add(text)
    addTo(this.#used, others.#used)
    this.#isOpen ||= others.#isOpen
    this.isSpoiled ||= others.isSpoiled
  }

  /** use adds what a cached value depends on; undefined when that is unknown. */
  use(rows: ReadonlyMap<string, Rows> | undefined): void {
    if (rows === undefined) this.#isOpen = true
    else addTo(this.#used, rows)
  }

  /**
   * rows are what the loaded value depends on, of the tables whose changes are told; undefined when nothing is known, so that any change may concern it.
   * `only` names the one row that matters of a table that the load's own statements read.
   */
  rows(watched: RegExp | undefined, only: Readonly<Record<string, string>>): ReadonlyMap<string, Rows> | undefined {
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

function addTo(rows: Map<string, Rows>, more: ReadonlyMap<string, Rows>): void {
  for (const [table, added] of more) {
    const known = rows.get(table)
    rows.set(table, known === ALL || added === ALL ? ALL : new Set([...(known ?? []), ...added]))
  }
}

/** tablesIn finds the names of tables in the text of a statement; a column of that name is taken for the table, which only forgets too much. */
export const tablesIn = (tables: readonly string[]): RegExp | undefined =>
  tables.length === 0 ? undefined : new RegExp(`\\b(?:${tables.join('|')})\\b`, 'g')

/** reading holds the Reads of the load that runs; outside of loads there are none. */
export const reading = new AsyncLocalStorage<Reads>()
