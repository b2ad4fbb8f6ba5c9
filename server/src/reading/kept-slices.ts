import type { EventStore } from '../events/store/events.ts'
import type { TimeBounds } from './event-query.ts'

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
const SERIES_MAX = 1_000
const SLICES_MAX = 4_000
/** The memory of a slice and of a row besides their texts, about. */
const SLICE_BYTES = 128
const ROW_BYTES = 96

/** Keeps slices of queries that were sent more than once. The series that was not used for longest is dropped first. */
export class KeptSlices {
  readonly #series = new Map<string, SliceSeries>()
  #bytes = 0

  /** The series of a query. Undefined when the query is new. */
  get(name: string): SliceSeries | undefined {
    const found = this.#series.get(name)
    if (!found) return undefined
    this.#series.delete(name)
    this.#series.set(name, found)
    return found
  }

  /** Notes that a query was read without slices. */
  begin(name: string, whole: WholeRead): void {
    const known = this.#series.get(name)
    if (known) {
      known.whole = whole
      return
    }
    this.#series.set(name, { slices: new Map(), types: [], whole, isTooLarge: false, bytes: name.length })
    this.#bytes += name.length
    this.#shorten()
  }

  add(name: string, slices: ReadonlyMap<number, KeptSlice>, types: readonly string[]): void {
    const series = this.#series.get(name)
    if (!series) return
    series.types = types
    for (const [number, slice] of slices) {
      this.#remove(series, number)
      series.slices.set(number, slice)
      this.#count(series, bytesOf(slice))
    }
    // The oldest slices are those that left the range first.
    for (const number of series.slices.keys()) {
      if (series.bytes <= SERIES_BYTES_MAX && series.slices.size <= SLICES_MAX) break
      this.#remove(series, number)
    }
    this.#shorten()
  }

  #remove(series: SliceSeries, number: number): void {
    const slice = series.slices.get(number)
    if (!slice) return
    series.slices.delete(number)
    this.#count(series, -bytesOf(slice))
  }

  #count(series: SliceSeries, bytes: number): void {
    series.bytes += bytes
    this.#bytes += bytes
  }

  #shorten(): void {
    for (const [name, { bytes }] of this.#series) {
      if (this.#bytes <= BYTES_MAX && this.#series.size <= SERIES_MAX) return
      this.#series.delete(name)
      this.#bytes -= bytes
    }
  }
}

const bytesOf = ({ rows }: KeptSlice): number =>
  rows.reduce((sum, { group, states }) => sum + ROW_BYTES + group.length + states.reduce((all, { length }) => all + length, 0), SLICE_BYTES)

const keptOf = new WeakMap<EventStore, KeptSlices>()

export function keptSlicesOf(store: EventStore): KeptSlices {
  const kept = keptOf.get(store) ?? new KeptSlices()
  keptOf.set(store, kept)
  return kept
}
