import type { ChangedRange, EventChanges } from './event-changes.ts'
import { FairMemory } from './shared-values.ts'

/** What was read of the events of a range. It holds while none of them has changed since that number of changes. */
export type Extent<T> = { readonly range: ChangedRange; readonly since: number; readonly value: T }

/** An extent of which at least a first part of the searched range holds, up to a time. */
export type HeldExtent<T> = Extent<T> & { readonly heldUntilMs: number }

/** The organization whose share of the memory is used, and the datasets that were read. */
export type CacheScope = { readonly orgNumber: number; readonly logIds: readonly string[] }

/** A kind of values. At most these extents and bytes are kept for a key; the oldest extents are dropped first. */
export type CacheKind<T> = {
  readonly name: string
  readonly extentsMax: number
  readonly bytesMax: number
  readonly bytesOf: (value: T) => number
}

/** The memory of all kinds together, unless another is given. */
export const KEPT_BYTES = 56 * 2 ** 20
/** The memory of an extent besides its value, about. */
const EXTENT_BYTES = 128

type Entry = Map<string, { readonly extent: Extent<unknown>; readonly bytes: number }>

/** Everything that is kept of the events of a store, within one limit that organizations share fairly. */
export class RangeCaches {
  readonly #changes: EventChanges | undefined
  readonly #memory: FairMemory<Entry>

  constructor(changes: EventChanges | undefined, bytesMax = KEPT_BYTES) {
    this.#changes = changes
    this.#memory = new FairMemory<Entry>(bytesMax)
  }

  /** Whether it is known what has changed. Otherwise nothing that was read is known to hold. */
  get isExact(): boolean {
    return this.#changes !== undefined
  }

  /** The number of changes so far, to note before a read. */
  now(): number {
    return this.#changes?.now() ?? 0
  }

  of<T>(kind: CacheKind<T>): RangeCache<T> {
    return new RangeCache(kind, this.#memory, this.#changes)
  }
}

/** The values of one kind, by key and range. A key names everything that a value depends on besides the events. */
export class RangeCache<T> {
  readonly #kind: CacheKind<T>
  readonly #memory: FairMemory<Entry>
  readonly #changes: EventChanges | undefined

  constructor(kind: CacheKind<T>, memory: FairMemory<Entry>, changes: EventChanges | undefined) {
    this.#kind = kind
    this.#memory = memory
    this.#changes = changes
  }

  /** Whether no event of a range has changed since. */
  holds({ logIds }: CacheScope, range: ChangedRange, since: number): boolean {
    return this.#changes?.areUnchanged(logIds, range, since) === true
  }

  /** The extents in a range that hold, at least up to some time after their start. */
  find({ orgNumber, logIds }: CacheScope, key: string, { fromMs, toMs }: ChangedRange): readonly HeldExtent<T>[] {
    const changes = this.#changes
    const entry = changes && this.#memory.get(orgNumber, this.#nameOf(key))
    if (!entry) return []
    return this.#extentsOf(entry).flatMap((extent) => {
      const common = { fromMs: Math.max(fromMs, extent.range.fromMs), toMs: Math.min(toMs, extent.range.toMs) }
      const heldUntilMs = common.fromMs < common.toMs ? changes.unchangedUntilMs(logIds, common, extent.since) : common.fromMs
      return heldUntilMs > common.fromMs ? [{ ...extent, heldUntilMs }] : []
    })
  }

  /** The newest extent of a key, whether it holds or not. */
  last({ orgNumber }: CacheScope, key: string): Extent<T> | undefined {
    const entry = this.#memory.get(orgNumber, this.#nameOf(key))
    return entry && this.#extentsOf(entry).at(-1)
  }

  /** Keeps extents, those of the same range in place of earlier ones. */
  put({ orgNumber }: CacheScope, key: string, extents: readonly Extent<T>[]): void {
    const { extentsMax, bytesMax, bytesOf } = this.#kind
    const name = this.#nameOf(key)
    const entry: Entry = this.#memory.get(orgNumber, name) ?? new Map()
    for (const extent of extents) {
      const place = `${extent.range.fromMs} ${extent.range.toMs}`
      entry.delete(place)
      entry.set(place, { extent, bytes: EXTENT_BYTES + bytesOf(extent.value) })
    }
    let bytes = entry.values().reduce((sum, one) => sum + one.bytes, 0)
    for (const [place, one] of entry) {
      if (entry.size <= extentsMax && bytes <= bytesMax) break
      entry.delete(place)
      bytes -= one.bytes
    }
    if (entry.size === 0) this.#memory.delete(orgNumber, name)
    else this.#memory.set(orgNumber, name, entry, name.length + bytes)
  }

  #nameOf(key: string): string {
    return `${this.#kind.name} ${key}`
  }

  /** The names of entries begin with their kind, so all values of an entry are of it. */
  #extentsOf(entry: Entry): Extent<T>[] {
    return [...entry.values()].map(({ extent }) => extent as Extent<T>)
  }
}
