import { ALL } from './reads.ts'
import { type Sql, sql } from './sql.ts'

/** The ids of rows that changed, by table. */
export type ChangedIds = ReadonlyMap<string, readonly string[]>

/** Where a list of rows comes from, newest first. */
export type RowSource<Row> = {
  /** Reads the rows that belong to the changed ids, or all. */
  read(changed: ChangedIds | undefined): Promise<readonly Row[]>
  /** For each table that the rows come from, the id by which a change notification names a row. */
  idsIn: Readonly<Record<string, (row: Row) => string>>
}

/** The condition for the rows that a source reads: those with the ids, or all. */
export const among = (column: Sql, ids: readonly string[] | undefined): Sql =>
  ids === undefined ? sql`true` : sql`${column} = any(${[...ids]}::uuid[])`

type ListedRow = { readonly id: string; readonly created_at: number }

/** With more changed rows, all are read again. */
const CHANGED_MAX = 1_000

/** The order of lists in statements and pages: `created_at desc, id`. */
const newestFirst = (a: ListedRow, b: ListedRow): number => b.created_at - a.created_at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/**
 * The rows of a list that were read before, and which of them have changed since. Only those are read again, so that a change of one row does not cost as
 * much as the list. Changes and reads are in one sequence: a read that began before another one that has ended must not bring old rows back.
 */
export class RowList<Row extends ListedRow> {
  #rows: readonly Row[] | undefined
  /** Changed rows by `table\nid`, with the place of their last change in the sequence. */
  readonly #changed = new Map<string, number>()
  #sequence = 0
  /** The place at which the latest read that counts began. */
  #readAt = 0
  #resets = 0

  note(table: string, id: string): void {
    this.#sequence += 1
    if (table === ALL || id === ALL) this.reset()
    else this.#changed.set(`${table}\n${id}`, this.#sequence)
  }

  /** Forgets the rows: any may have changed. */
  reset(): void {
    this.#resets += 1
    this.#rows = undefined
    this.#changed.clear()
  }

  async read(source: RowSource<Row>): Promise<readonly Row[]> {
    for (;;) {
      const [startedAt, resets] = [this.#sequence, this.#resets]
      if (this.#rows && this.#changed.size === 0) return this.#rows
      const changed = this.#rows && this.#changed.size <= CHANGED_MAX ? this.#changedIds() : undefined
      const fresh = await source.read(changed)
      const isReset = resets !== this.#resets
      if (!changed) {
        if (!isReset && this.#readAt <= startedAt) this.#keep(fresh, startedAt)
        return fresh
      }
      if (isReset || !this.#rows) continue
      if (this.#readAt <= startedAt) this.#keep(merged(this.#rows, fresh, changed, source), startedAt)
      return this.#rows
    }
  }

  #changedIds(): ChangedIds {
    const named = [...this.#changed.keys()].map((key): [string, string] => {
      const at = key.indexOf('\n')
      return [key.slice(0, at), key.slice(at + 1)]
    })
    return new Map([...Map.groupBy(named, ([table]) => table)].map(([table, each]) => [table, each.map(([, id]) => id)]))
  }

  #keep(rows: readonly Row[], startedAt: number): void {
    this.#rows = rows
    this.#readAt = startedAt
    for (const [key, at] of this.#changed) if (at <= startedAt) this.#changed.delete(key)
  }
}

function merged<Row extends ListedRow>(rows: readonly Row[], fresh: readonly Row[], changed: ChangedIds, { idsIn }: RowSource<Row>): Row[] {
  const outdated = [...changed].flatMap(([table, ids]) => {
    const idOf = idsIn[table]
    return idOf ? [{ idOf, ids: new Set(ids) }] : []
  })
  return [...rows.filter((row) => !outdated.some(({ idOf, ids }) => ids.has(idOf(row)))), ...fresh].toSorted(newestFirst)
}
