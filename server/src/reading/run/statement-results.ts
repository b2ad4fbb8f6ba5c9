import { hash } from 'node:crypto'
import type { EventStore } from '../../events/store/events.ts'
import type { CacheKind, CacheScope } from '../../events/store/range-cache.ts'
import { cacheKey } from '../../events/store/shared-values.ts'
import type { EventQuery, TimeBounds } from '../query.ts'
import type { BoundStatement } from '../sql/sql.ts'

/** The result of a statement with its number of rows, and what was read for it. */
export type StatementResult = { readonly bytes: Buffer; readonly rows: number; readonly readRows: number; readonly readBytes: number }

/** The events that a query may read. */
export type ReadScope = CacheScope & { readonly bounds: TimeBounds }

/** A larger result would push out too many others. */
const RESULTS: CacheKind<StatementResult> = { name: 'result', extentsMax: 1, bytesMax: 2 * 2 ** 20, bytesOf: ({ bytes }) => bytes.length }
/** A statement on more datasets is read again: one of them changes nearly always. */
const SOURCES_MAX = 32

export type RepeatedQuery = Pick<EventQuery, 'orgNumber' | 'keepsResults' | 'sources' | 'bounds'>

/** Undefined for queries whose results are not kept. */
export function readScope({ orgNumber, keepsResults, sources, bounds }: Partial<RepeatedQuery>): ReadScope | undefined {
  if (orgNumber === undefined || !keepsResults || !sources || !bounds || sources.length > SOURCES_MAX) return undefined
  return { orgNumber, logIds: sources.map(({ logId }) => logId), bounds }
}

/** Whether the results of the statements of a query are kept. */
export const areResultsKept = ({ caches }: EventStore, { scope }: { readonly scope: ReadScope | undefined }): boolean =>
  caches.isExact && scope !== undefined

/** Where the result of one statement is kept. */
export type ResultPlace = {
  /** The kept result, if no event that the query may read has changed since it was read. */
  find(): StatementResult | undefined
  /** Begins a read. The returned function keeps its result if nothing has changed meanwhile. */
  reading(): (result: StatementResult) => void
}

/** A result belongs to its statement with all values, and to the organization and the limits that it was read with. */
export function resultPlace(
  { caches }: EventStore,
  scope: ReadScope | undefined,
  { text, params, tables }: BoundStatement,
  limits: { readonly groupsMax: number | undefined; readonly memoryBytes: number },
): ResultPlace | undefined {
  if (!scope || !caches.isExact) return undefined
  const { bounds: range } = scope
  const results = caches.of(RESULTS)
  const key = hash('sha256', cacheKey([limits, text, params, tables]), 'base64')
  return {
    // The statement names its own range, so only what has changed in that of the query matters.
    find: () => {
      const last = results.last(scope, key)
      return last && results.holds(scope, range, last.since) ? last.value : undefined
    },
    reading: () => {
      const since = caches.now()
      return (result) => {
        // The buffer may be a part of a larger one, which would stay in memory.
        if (results.holds(scope, range, since)) {
          results.put(scope, key, [{ range, since, value: { ...result, bytes: Buffer.from(result.bytes) } }])
        }
      }
    },
  }
}
