import type { EventStore } from '../store/events.ts'
import type { StoredPart } from './ages.ts'
import { selectUncached } from './rows.ts'

/**
 * Knows which parts in cold storage have their description on the local disk, from which the embedded engine starts while the bucket is away. The engine
 * reads a description when it loads a part, at its start and after a move, but not when a deletion has written the part again.
 */
export class ColdDescriptions {
  #known: ReadonlySet<string> = new Set()

  /** The parts that are new in cold storage since the last call and have no description on the disk. */
  async missing(store: EventStore, parts: readonly StoredPart[]): Promise<StoredPart[]> {
    const cold = parts.filter(({ isCold }) => isCold)
    const fresh = cold.filter((part) => !this.#known.has(nameOf(part)))
    this.#known = new Set(cold.map(nameOf))
    if (fresh.length === 0) return []
    const uncached = await selectUncached(store)
    return fresh.filter(({ name }) => uncached.has(name))
  }
}

const nameOf = ({ table, name }: StoredPart): string => `${table} ${name}`
