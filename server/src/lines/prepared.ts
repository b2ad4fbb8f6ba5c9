import type { BlockBuilder } from './block.ts'
import type { TextColumn } from './columns.ts'
import { type Arrival, cleanLeaves, eventTime, messageKeys, ORIGINAL_TIME } from './event.ts'
import { toSlot } from './leaf-text.ts'
import type { LearnedShape } from './learned-shape.ts'
import { type Severity, severityKeys, severityOf } from './severity.ts'
import { type Hash64, skeletonHash } from './skeleton.ts'
import type { SlotMap } from './slots.ts'
import type { Instant } from './time-text.ts'

/** The facts that all lines of an arrival share, computed once for each block. */
export class PreparedArrival {
  readonly arrival: Arrival
  /** True when attributes decide what a line otherwise decides itself. Such lines go to the reference. */
  readonly decides: boolean
  /** Time, refused time, severity and skeleton of a line that contains none. Without a skeleton its text is masked. */
  readonly time: Instant
  readonly refused: string | undefined
  readonly severity: Severity
  readonly skeleton: Hash64 | undefined
  readonly origin: number
  readonly postHigh: number
  readonly postLow: number
  private readonly attributes: ReadonlyMap<string, string>
  private readonly places: readonly { path: string; column: TextColumn | undefined; bytes: Buffer }[]
  private readonly block: BlockBuilder
  private free: LearnedShape | undefined

  constructor(arrival: Arrival, map: SlotMap, block: BlockBuilder) {
    const attributes = cleanLeaves(arrival.attributes)
    const { instant, refused } = eventTime(() => undefined, arrival)
    const message = messageKeys.map((key) => attributes.get(key)).find((text) => text !== undefined)
    this.arrival = arrival
    this.attributes = attributes
    this.block = block
    const decidesSeverity = (path: string) => arrival.severity === undefined && severityKeys.has(path)
    this.decides = [...attributes.keys()].some((path) => decidesSeverity(path) || messageKeys.includes(path) || path === ORIGINAL_TIME)
    this.time = instant
    this.refused = refused
    this.severity = arrival.severity ?? severityOf((path) => attributes.get(path))
    this.skeleton = message === undefined ? undefined : skeletonHash(message)
    this.origin = block.origin.indexOf(arrival.origin)
    this.postHigh = Number(arrival.post >> 32n)
    this.postLow = Number(arrival.post & 0xffff_ffffn)
    this.places = [...attributes].map(([path, text]) => {
      const slot = map.slots.get(path)
      return { path, column: slot && block.slot(slot), bytes: Buffer.from(toSlot(text), 'utf8') }
    })
  }

  /** True when the key is an attribute. */
  has(path: string): boolean {
    return this.attributes.size > 0 && this.attributes.has(path)
  }

  /** True when a line of the shape has a key that is also an attribute. */
  collides(shape: LearnedShape): boolean {
    if (this.free === shape || this.attributes.size === 0) return false
    for (const path of this.attributes.keys()) if (shape.paths.has(path)) return true
    this.free = shape
    return false
  }

  addAttributes(row: number): void {
    for (const { path, column, bytes } of this.places) {
      if (column) column.add(row, bytes, 0, bytes.length)
      else this.block.more.add(row, path, bytes, 0, bytes.length)
    }
  }
}
