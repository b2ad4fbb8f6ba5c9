import type { EventStore } from '../events/store/events.ts'
import type { TimeBounds } from './event-query.ts'
import { KeptValues } from './kept-values.ts'

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
export class KeptSlices {
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

export function keptSlicesOf(store: EventStore): KeptSlices {
  const kept = keptOf.get(store) ?? new KeptSlices()
  keptOf.set(store, kept)
  return kept
}
