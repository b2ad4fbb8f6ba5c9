import { hash } from 'node:crypto'
import type { EventStore } from '../events/store/events.ts'
import type { EventQuery, TimeBounds } from './event-query.ts'
import type { BoundStatement } from './statement.ts'

/** The result of a statement, with what was read for it. */
export type StatementResult = { readonly bytes: Buffer; readonly readRows: number; readonly readBytes: number }

/** The events that a query may read. */
export type ReadScope = { readonly logIds: readonly string[]; readonly bounds: TimeBounds }

/** Results of one size limit in all, of which the ones that were not used for longest are dropped first. */
export class KeptResults {
  readonly #bytesMax: number
  readonly #results = new Map<string, StatementResult & { readonly since: number }>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get(name: string, holds: (since: number) => boolean): StatementResult | undefined {
    const found = this.#results.get(name)
    if (!found) return undefined
    this.#drop(name)
    if (!holds(found.since)) return undefined
    this.#add(name, found)
    return found
  }

  set(name: string, result: StatementResult, since: number): void {
    this.#drop(name)
    if (result.bytes.length + ENTRY_BYTES > this.#bytesMax * RESULT_SHARE) return
    // The buffer may be a part of a larger one, which would stay in memory.
    this.#add(name, { ...result, bytes: Buffer.from(result.bytes), since })
    for (const oldest of this.#results.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#drop(oldest)
    }
  }

  #add(name: string, result: StatementResult & { readonly since: number }): void {
    this.#results.set(name, result)
    this.#bytes += result.bytes.length + ENTRY_BYTES
  }

  #drop(name: string): void {
    const found = this.#results.get(name)
    if (!found) return
    this.#results.delete(name)
    this.#bytes -= found.bytes.length + ENTRY_BYTES
  }
}

const KEPT_BYTES_MAX = 32 * 2 ** 20
/** A larger result would push out too many others. */
const RESULT_SHARE = 1 / 16
/** The memory of an entry besides its bytes, about. */
const ENTRY_BYTES = 512
/** A statement on more datasets is read again: one of them changes nearly always. */
const SOURCES_MAX = 32

const keptOf = new WeakMap<EventStore, KeptResults>()

export type KeptQuery = Pick<EventQuery, 'keepsResults' | 'sources' | 'bounds'>

/** Undefined for queries whose results are not kept. */
export function readScope({ keepsResults, sources, bounds }: Partial<KeptQuery>): ReadScope | undefined {
  if (!keepsResults || !sources || !bounds || sources.length > SOURCES_MAX) return undefined
  return { logIds: sources.map(({ logId }) => logId), bounds }
}

/** Where the result of one statement is kept. */
export type KeptPlace = {
  /** The kept result, if no event that the query may read has changed since it was read. */
  find(): StatementResult | undefined
  /** Begins a read. The returned function keeps its result if nothing has changed meanwhile. */
  reading(): (result: StatementResult) => void
}

/** A result belongs to its statement with all values, and to the organization and the limits that it was read with. */
export function keptPlace(
  store: EventStore,
  scope: ReadScope | undefined,
  { text, params, tables }: BoundStatement,
  owner: { readonly orgNumber: number; readonly groupsMax: number | undefined; readonly memoryBytes: number },
): KeptPlace | undefined {
  const { changes } = store
  if (!scope || !changes) return undefined
  const results = keptOf.get(store) ?? new KeptResults(KEPT_BYTES_MAX)
  keptOf.set(store, results)
  const name = hash('sha256', JSON.stringify([owner, text, params, tables], withBigInts), 'base64')
  const holds = (since: number): boolean => changes.areUnchanged(scope.logIds, scope.bounds, since)
  return {
    find: () => results.get(name, holds),
    reading: () => {
      const since = changes.now()
      return (result) => {
        if (holds(since)) results.set(name, result, since)
      }
    },
  }
}

const withBigInts = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value)
