import type { EventStore } from '../../events/store/events.ts'
import type { EventQuery, TimeBounds } from '../query.ts'
import type { QueryRun } from '../run/run.ts'
import { KeptValues, keptName } from './shared-values.ts'
import { openRanges, rangesOf, sliceBounds, sliceLengthMs, wholeSlices } from './time-slices.ts'

/** The state of the aggregates of one group in one slice. States are written in base64. */
export type SliceRow = { readonly group: string; readonly counted: bigint; readonly states: readonly string[] }
/** A slice holds as long as its events have not changed since. */
export type KeptSlice = { readonly rows: readonly SliceRow[]; readonly since: number }

/**
 * The slices of one query, by number, and the types of the states. `whole` is the last range that was read without slices. A series with too many states
 * is too large to be used.
 */
export type SliceSeries = {
  readonly slices: Map<number, KeptSlice>
  types: readonly string[]
  whole: WholeRead
  isTooLarge: boolean
  bytes: number
}
export type WholeRead = { readonly bounds: TimeBounds; readonly since: number }

const BYTES_MAX = 16 * 2 ** 20
const SERIES_BYTES_MAX = 2 * 2 ** 20
const SLICES_MAX = 4_000
/** The memory of a slice and of a row besides their texts, about. */
const SLICE_BYTES = 128
const ROW_BYTES = 96

/** The slices of queries that were sent more than once, by organization and query. */
class KeptSlices {
  readonly #series = new KeptValues<SliceSeries>(BYTES_MAX)

  /** The series of a query. Undefined when the query is new. */
  get(owner: number, name: string): SliceSeries | undefined {
    return this.#series.get(owner, name)
  }

  /** Notes that a query was read without slices. */
  begin(owner: number, name: string, whole: WholeRead): void {
    const known = this.#series.get(owner, name)
    if (known) known.whole = whole
    else this.#series.set(owner, name, { slices: new Map(), types: [], whole, isTooLarge: false, bytes: 0 }, SLICE_BYTES + name.length)
  }

  add(owner: number, name: string, slices: ReadonlyMap<number, KeptSlice>, types: readonly string[]): void {
    const series = this.#series.get(owner, name)
    if (!series) return
    series.types = types
    for (const [number, slice] of slices) {
      remove(series, number)
      series.slices.set(number, slice)
      series.bytes += bytesOf(slice)
    }
    // The oldest slices are those that left the range first.
    for (const number of series.slices.keys()) {
      if (series.bytes <= SERIES_BYTES_MAX && series.slices.size <= SLICES_MAX) break
      remove(series, number)
    }
    this.#series.set(owner, name, series, SLICE_BYTES + name.length + series.bytes)
  }
}

function remove(series: SliceSeries, number: number): void {
  const slice = series.slices.get(number)
  if (!slice) return
  series.slices.delete(number)
  series.bytes -= bytesOf(slice)
}

const bytesOf = ({ rows }: KeptSlice): number =>
  rows.reduce((sum, { group, states }) => sum + ROW_BYTES + group.length + states.reduce((all, { length }) => all + length, 0), SLICE_BYTES)

const keptOf = new WeakMap<EventStore, KeptSlices>()

function keptSlicesOf(store: EventStore): KeptSlices {
  const kept = keptOf.get(store) ?? new KeptSlices()
  keptOf.set(store, kept)
  return kept
}

export type SliceRead = {
  readonly store: EventStore
  readonly queryRun: QueryRun
  readonly query: EventQuery
}

/** A query whose slices can be kept. The name stands for everything that its result depends on except the time range. */
export type Slicing = SliceRead & { readonly name: string; readonly lengthMs: number; readonly startedAt: number }

/** Undefined for queries whose slices cannot be kept. The parts name the query. */
export function slicingOf({ store, queryRun, query }: SliceRead, slices: number, parts: readonly unknown[]): Slicing | undefined {
  if (!queryRun.scope || !store.changes) return undefined
  const lengthMs = sliceLengthMs(query.bounds, slices)
  if (lengthMs === undefined) return undefined
  return { store, queryRun, query, name: keptName([lengthMs, ...parts]), lengthMs, startedAt: store.changes.now() }
}

/** Notes a query that was read without slices. Only queries that are sent again, and read many events, are worth keeping. */
export function noteQuery(slicing: Slicing, readRows: number): void {
  const { store, query, name, startedAt } = slicing
  const { keepsResults, bounds, orgNumber } = query
  if (keepsResults && readRows >= keepsResults.slicesFromRows) keptSlicesOf(store).begin(orgNumber, name, { bounds, since: startedAt })
}

/** The slices of a query: those that are kept and hold, those that have to be read to be kept, and the rest of its range. */
export type FoundSlices = {
  readonly series: SliceSeries
  readonly known: ReadonlyMap<number, KeptSlice>
  readonly missing: readonly number[]
  readonly open: readonly TimeBounds[]
}

/** Undefined when the query is new, or has too many states or ranges. */
export function findSlices(slicing: Slicing): FoundSlices | undefined {
  const { store, query, name, lengthMs, startedAt } = slicing
  const series = keptSlicesOf(store).get(query.orgNumber, name)
  if (!series || series.isTooLarge || isWhole(slicing, series)) return undefined
  const keptSinceMs = Math.max(...query.sources.map((source) => source.keptSinceMs ?? 0))
  const known = new Map<number, KeptSlice>()
  const missing: number[] = []
  for (const slice of wholeSlices(query.bounds, lengthMs)) {
    const bounds = sliceBounds(slice, lengthMs)
    // What retention removes, or what changes now, is not kept.
    if (bounds.fromMs < keptSinceMs) continue
    const kept = series.slices.get(slice)
    if (kept && isUnchanged(slicing, bounds, kept.since)) known.set(slice, kept)
    else if (isUnchanged(slicing, bounds, startedAt)) missing.push(slice)
  }
  const used = [...known.keys(), ...missing].sort((one, other) => one - other)
  const open = openRanges(query.bounds, rangesOf(used, lengthMs))
  return used.length === 0 || !open ? undefined : { series, known, missing, open }
}

/** Keeps slices that were read, unless their events have changed meanwhile. */
export function keepSlices(slicing: Slicing, fresh: ReadonlyMap<number, KeptSlice>, types: readonly string[] = []): void {
  const { store, query, name, lengthMs, startedAt } = slicing
  const lasting = [...fresh].filter(([slice]) => isUnchanged(slicing, sliceBounds(slice, lengthMs), startedAt))
  keptSlicesOf(store).add(query.orgNumber, name, new Map(lasting), types)
}

/** Whether the same range was read without slices and has not changed, so that the result itself is kept. */
function isWhole(slicing: Slicing, { whole }: SliceSeries): boolean {
  const { bounds } = slicing.query
  const isSame = bounds.fromMs === whole.bounds.fromMs && bounds.toMs === whole.bounds.toMs
  return isSame && isUnchanged(slicing, bounds, whole.since)
}

const isUnchanged = ({ store, queryRun }: Slicing, bounds: TimeBounds, since: number): boolean =>
  store.changes?.areUnchanged(queryRun.scope?.logIds ?? [], bounds, since) === true
