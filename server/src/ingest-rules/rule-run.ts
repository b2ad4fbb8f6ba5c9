import { hashOfPatternId } from '../kernel/pattern-id.ts'
import type { SharedFile } from '../kernel/shared-files.ts'
import type { AddressDatabases } from './address-databases.ts'
import { EventCounts } from './event-counts.ts'
import type { IndexedTable } from './lookup-table.ts'
import type { NamedPattern } from './pattern-filter.ts'
import type { RuleTime } from './rule-time.ts'

/** What rules read besides events: lookup tables, files with databases of addresses, and the patterns that their filters name. */
export type RuleSources = {
  readonly tables: readonly IndexedTable[]
  readonly addresses: readonly SharedFile[]
  readonly patterns: readonly NamedPattern[]
}

export const NO_SOURCES: RuleSources = { tables: [], addresses: [], patterns: [] }

/** The rules of a dataset at work on one post. */
export class RuleRun {
  readonly time: RuleTime
  readonly tables: ReadonlyMap<string, IndexedTable>
  readonly addresses: ReturnType<AddressDatabases['of']>
  readonly patterns: ReadonlyMap<string, NamedPattern>
  readonly counts = new EventCounts()
  readonly #families: ReadonlyMap<bigint, bigint>

  constructor(time: RuleTime, { tables, addresses, patterns }: RuleSources, databases: AddressDatabases) {
    this.time = time
    this.tables = new Map(tables.map((table) => [table.name, table]))
    this.addresses = databases.of(addresses)
    this.patterns = new Map(patterns.map((pattern) => [pattern.id, pattern]))
    this.#families = new Map(
      patterns.flatMap(({ id, members }) => {
        const family = hashOfPatternId(id)
        return family === undefined ? [] : members.map((member) => [member, family] as const)
      }),
    )
  }

  /** The family of a pattern, if a filter names it. */
  familyOf(pattern: bigint): bigint | undefined {
    return this.#families.get(pattern)
  }
}
