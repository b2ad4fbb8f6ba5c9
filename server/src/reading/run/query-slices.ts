import type { EventStore } from '../../events/store/events.ts'
import type { CacheKind } from '../../events/store/range-cache.ts'
import { cacheKey } from '../../events/store/shared-values.ts'
import type { EventQuery, TimeBounds } from '../query.ts'
import type { QueryRun } from './run.ts'
import type { ReadScope } from './statement-results.ts'
import { openRanges, rangesOf, sliceBounds, sliceLengthMs, wholeSlices } from './time-slices.ts'

/** The state of the aggregates of one group in one slice. States are written in base64. */
export type SliceRow = { readonly group: string; readonly counted: bigint; readonly states: readonly string[] }
/** The rows of a slice, and the types of their states. */
export type SliceValue = { readonly rows: readonly SliceRow[]; readonly types: readonly string[] }

/** The memory of a row besides its texts, about. */
const ROW_BYTES = 96
const SLICES: CacheKind<SliceValue> = { name: 'slices', extentsMax: 4_000, bytesMax: 2 * 2 ** 20, bytesOf: bytesOfSlice }
/** That a query was read without slices in a range, so that it uses them the next time unless it has too many. */
const WHOLE_READS: CacheKind<{ readonly isTooLarge: boolean }> = { name: 'whole read', extentsMax: 1, bytesMax: 2 ** 10, bytesOf: () => 0 }

function bytesOfSlice({ rows }: SliceValue): number {
  return rows.reduce((sum, { group, states }) => sum + ROW_BYTES + group.length + states.reduce((all, { length }) => all + length, 0), 0)
}

export type SliceRead = {
  readonly store: EventStore
  readonly queryRun: QueryRun
  readonly query: EventQuery
  /** The number of changes before the query read anything. */
  readonly startedAt: number
}

/** A query whose slices can be kept. The key stands for everything that its result depends on except the time range. */
export type Slicing = SliceRead & {
  readonly scope: ReadScope
  readonly key: string
  readonly lengthMs: number
}

/** Undefined for queries whose slices cannot be kept. The parts name the query. */
export function slicingOf(
  { store, queryRun, query, startedAt }: SliceRead,
  slices: number,
  parts: readonly unknown[],
): Slicing | undefined {
  const { scope } = queryRun
  if (!scope || !store.caches.isExact) return undefined
  const lengthMs = sliceLengthMs(query.bounds, slices)
  if (lengthMs === undefined) return undefined
  return { store, queryRun, query, scope, key: cacheKey([lengthMs, ...parts]), lengthMs, startedAt }
}

/** Notes a query that was read without slices. Only queries that are sent again, and read many events, are worth keeping. */
export function noteQuery(slicing: Slicing, readRows: number): void {
  const { keepsResults } = slicing.query
  if (keepsResults && readRows >= keepsResults.slicesFromRows) noteWhole(slicing, false)
}

/** Notes that a query has too many states to be read by slices. */
export const noteTooLarge = (slicing: Slicing): void => noteWhole(slicing, true)

function noteWhole({ store: { caches }, scope, key, query, startedAt }: Slicing, isTooLarge: boolean): void {
  const notes = caches.of(WHOLE_READS)
  const known = notes.last(scope, key)?.value.isTooLarge ?? false
  notes.put(scope, key, [{ range: query.bounds, since: startedAt, value: { isTooLarge: isTooLarge || known } }])
}

/** The slices of a query: those that are kept and hold, those that have to be read to be kept, and the rest of its range. */
export type SlicesOfQuery = {
  readonly known: ReadonlyMap<number, SliceValue>
  readonly missing: readonly number[]
  readonly open: readonly TimeBounds[]
}

/** Undefined when the query is new, or has too many states or ranges. */
export function findSlices(slicing: Slicing): SlicesOfQuery | undefined {
  const { store, query, scope, key, lengthMs, startedAt } = slicing
  if (!usesSlices(slicing)) return undefined
  const cache = store.caches.of(SLICES)
  const holding = cache.find(scope, key, query.bounds).filter(({ range, heldUntilMs }) => heldUntilMs >= range.toMs)
  const bySlice = new Map(holding.map(({ range, value }) => [range.fromMs / lengthMs, value]))
  const keptSinceMs = Math.max(...query.sources.map((source) => source.keptSinceMs ?? 0))
  const known = new Map<number, SliceValue>()
  const missing: number[] = []
  for (const slice of wholeSlices(query.bounds, lengthMs)) {
    const bounds = sliceBounds(slice, lengthMs)
    // What retention removes, or what changes now, is not kept.
    if (bounds.fromMs < keptSinceMs) continue
    const value = bySlice.get(slice)
    if (value) known.set(slice, value)
    else if (cache.holds(scope, bounds, startedAt)) missing.push(slice)
  }
  const used = [...known.keys(), ...missing].sort((one, other) => one - other)
  const open = openRanges(query.bounds, rangesOf(used, lengthMs))
  return used.length === 0 || !open ? undefined : { known, missing, open }
}

/** Keeps slices that were read, unless their events have changed meanwhile. */
export function keepSlices({ store, scope, key, lengthMs, startedAt: since }: Slicing, fresh: ReadonlyMap<number, SliceValue>): void {
  const cache = store.caches.of(SLICES)
  const extents = [...fresh].map(([slice, value]) => ({ range: sliceBounds(slice, lengthMs), since, value }))
  const lasting = extents.filter(({ range }) => cache.holds(scope, range, since))
  if (lasting.length > 0) cache.put(scope, key, lasting)
}

/** Not when the same range was read without slices and has not changed: then the result itself is kept. */
function usesSlices({ store: { caches }, scope, key, query: { bounds } }: Slicing): boolean {
  const notes = caches.of(WHOLE_READS)
  const note = notes.last(scope, key)
  if (!note || note.value.isTooLarge) return false
  const isSame = bounds.fromMs === note.range.fromMs && bounds.toMs === note.range.toMs
  return !isSame || !notes.holds(scope, bounds, note.since)
}
