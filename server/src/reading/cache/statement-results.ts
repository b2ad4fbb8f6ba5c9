import { hash } from 'node:crypto'
import type { EventStore } from '../../events/store/events.ts'
import type { EventQuery, TimeBounds } from '../query.ts'
import type { BoundStatement } from '../sql/sql.ts'
import { KeptValues, keptName } from './shared-values.ts'

/** The result of a statement with its number of rows, and what was read for it. */
export type StatementResult = { readonly bytes: Buffer; readonly rows: number; readonly readRows: number; readonly readBytes: number }

/** The events that a query may read. */
export type ReadScope = { readonly logIds: readonly string[]; readonly bounds: TimeBounds }

const KEPT_BYTES_MAX = 32 * 2 ** 20
/** A larger result would push out too many others. */
const RESULT_BYTES_MAX = 2 * 2 ** 20
/** The memory of an entry besides its bytes, about. */
const ENTRY_BYTES = 512
/** A statement on more datasets is read again: one of them changes nearly always. */
const SOURCES_MAX = 32

type KeptResult = StatementResult & { readonly since: number }

const keptOf = new WeakMap<EventStore, KeptValues<KeptResult>>()

export type KeptQuery = Pick<EventQuery, 'keepsResults' | 'sources' | 'bounds'>

/** Undefined for queries whose results are not kept. */
export function readScope({ keepsResults, sources, bounds }: Partial<KeptQuery>): ReadScope | undefined {
  if (!keepsResults || !sources || !bounds || sources.length > SOURCES_MAX) return undefined
  return { logIds: sources.map(({ logId }) => logId), bounds }
}

/** Whether the results of the statements of a query are kept. */
export const areResultsKept = ({ changes }: EventStore, { scope }: { readonly scope: ReadScope | undefined }): boolean =>
  changes !== undefined && scope !== undefined

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
  const results = keptOf.get(store) ?? new KeptValues<KeptResult>(KEPT_BYTES_MAX)
  keptOf.set(store, results)
  const name = hash('sha256', keptName([owner, text, params, tables]), 'base64')
  const holds = (since: number): boolean => changes.areUnchanged(scope.logIds, scope.bounds, since)
  return {
    find: () => {
      const found = results.get(owner.orgNumber, name)
      if (!found || holds(found.since)) return found
      results.delete(owner.orgNumber, name)
      return undefined
    },
    reading: () => {
      const since = changes.now()
      return ({ bytes, ...cost }) => {
        if (bytes.length > RESULT_BYTES_MAX || !holds(since)) return
        // The buffer may be a part of a larger one, which would stay in memory.
        results.set(owner.orgNumber, name, { ...cost, bytes: Buffer.from(bytes), since }, bytes.length + ENTRY_BYTES)
      }
    },
  }
}
