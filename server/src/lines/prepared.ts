import type { BlockBuilder } from './block.ts'
import type { TextColumn } from './columns.ts'
import { type Arrival, eventTime, messageKeys, ORIGINAL_TIME } from './event.ts'
import { cleanText, toSlot } from './leaf-text.ts'
import type { LearnedShape } from './learned-shape.ts'
import { type Severity, severityKeys, severityOf } from './severity.ts'
import { type Hash64, skeletonHash } from './skeleton.ts'
import type { SlotMap } from './slots.ts'
import type { Instant } from './time-text.ts'
import { cleanName } from './walk.ts'

/** The facts about an attribute, computed once for all arrivals that have it. */
type AttributeKey = {
  readonly path: string
  readonly column: TextColumn | undefined
  readonly tellsSeverity: boolean
  readonly isMessage: boolean
  /** The arrival that had the key last, and the position of its value there. */
  arrival: number
  at: number
}

const KEYS_MAX = 4_096

/** Caches the attributes of a slot map. */
export class AttributeKeys {
  private readonly keys = new Map<string, AttributeKey>()
  private readonly map: SlotMap
  private readonly block: BlockBuilder
  private arrivals = 0

  constructor(map: SlotMap, block: BlockBuilder) {
    this.map = map
    this.block = block
  }

  /** Begins an arrival. Only here are keys dropped, so that one arrival never has two keys of one path. */
  nextArrival(): number {
    if (this.keys.size > KEYS_MAX) this.keys.clear()
    this.arrivals += 1
    return this.arrivals
  }

  of(name: string): AttributeKey {
    const known = this.keys.get(name)
    if (known) return known
    const path = cleanName(name)
    // Names of one path share their key, so that the last value counts.
    const key = path === name ? this.make(path) : this.of(path)
    this.keys.set(name, key)
    return key
  }

  private make(path: string): AttributeKey {
    const slot = this.map.slots.get(path)
    const isMessage = messageKeys.includes(path)
    return { path, column: slot && this.block.slot(slot), tellsSeverity: severityKeys.has(path), isMessage, arrival: 0, at: 0 }
  }
}

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
  private readonly keys: AttributeKey[] = []
  private readonly texts: string[] = []
  private readonly block: BlockBuilder
  private paths: ReadonlySet<string> | undefined
  private free: LearnedShape | undefined

  constructor(arrival: Arrival, known: AttributeKeys, block: BlockBuilder) {
    this.arrival = arrival
    this.block = block
    const { isOriginal, tellsSeverity, isMessage } = this.readAttributes(known)
    const { instant, refused } = eventTime(NO_LEAF, arrival)
    this.decides = isMessage || isOriginal || (tellsSeverity && arrival.severity === undefined)
    this.time = instant
    this.refused = refused
    this.severity = arrival.severity ?? (tellsSeverity ? severityOf((path) => this.textOf(path)) : 'none')
    const message = isMessage ? messageKeys.map((path) => this.textOf(path)).find((text) => text !== undefined) : undefined
    this.skeleton = message === undefined ? undefined : skeletonHash(message)
    this.origin = block.origin.indexOf(arrival.origin)
    this.postHigh = Number(arrival.post >> 32n)
    this.postLow = Number(arrival.post & 0xffff_ffffn)
  }

  /** True when the key is an attribute. */
  has(path: string): boolean {
    if (this.keys.length === 0) return false
    this.paths ??= new Set(this.keys.map((key) => key.path))
    return this.paths.has(path)
  }

  /** True when a line of the shape has a key that is also an attribute. */
  collides(shape: LearnedShape): boolean {
    if (this.free === shape || this.keys.length === 0) return false
    for (const { path } of this.keys) if (shape.paths.has(path)) return true
    this.free = shape
    return false
  }

  addAttributes(row: number): void {
    const { keys, texts } = this
    for (let at = 0; at < keys.length; at += 1) {
      const { column, path } = keys[at] as AttributeKey
      const text = toSlot(texts[at] as string)
      if (column) column.addText(row, text)
      else {
        const bytes = Buffer.from(text, 'utf8')
        this.block.more.add(row, path, bytes, 0, bytes.length)
      }
    }
  }

  /** Keeps the attributes; the last of two with one path counts. */
  private readAttributes(known: AttributeKeys): { isOriginal: boolean; tellsSeverity: boolean; isMessage: boolean } {
    const { keys, texts, arrival } = this
    const serial = known.nextArrival()
    const found = { isOriginal: false, tellsSeverity: false, isMessage: false }
    for (const { path, text } of arrival.attributes) {
      const key = known.of(path)
      if (key.arrival !== serial) {
        key.arrival = serial
        key.at = keys.length
        keys.push(key)
      }
      texts[key.at] = cleanText(text)
      if (key.tellsSeverity) found.tellsSeverity = true
      if (key.isMessage) found.isMessage = true
      if (key.path === ORIGINAL_TIME) found.isOriginal = true
    }
    return found
  }

  private textOf(path: string): string | undefined {
    return this.texts[this.keys.findIndex((key) => key.path === path)]
  }
}

const NO_LEAF = () => undefined
