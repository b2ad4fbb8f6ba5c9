import { type Hash64, skeletonHash } from '../../patterns/skeleton.ts'
import type { BlockBuilder } from '../block/block.ts'
import { type Arrival, eventTime, messageKeys } from '../reference/event.ts'
import { cleanText, toSlot } from '../reference/leaf-text.ts'
import { type Severity, severityOf } from '../values/severity.ts'
import type { Instant } from '../values/time-text.ts'
import type { KnownKey, KnownKeys } from './known-keys.ts'

/** The facts about a row that do not come from its line. */
export type RowFacts = {
  readonly arrival: Arrival
  /** True when an attribute contributes to the severity of a line. */
  readonly tellsSeverity: boolean
  /** Time, refused time, severity and skeleton of a line that contains none. Without a skeleton its text is masked. */
  readonly time: Instant
  readonly refused: string | undefined
  readonly severity: Severity
  readonly skeleton: Hash64 | undefined
  /** The rank of the message among the attributes, -1 for none. */
  readonly messageRank: number
  readonly hasAttributes: boolean
  readonly origin: number
  readonly postHigh: number
  readonly postLow: number
  /** True when the key is an attribute. */
  has(path: string): boolean
  addAttributes(row: number): void
  textOf(path: string): string | undefined
}

/** The facts that all lines of an arrival share, computed once for each block. */
export class PreparedArrival implements RowFacts {
  readonly arrival: Arrival
  readonly tellsSeverity: boolean
  readonly time: Instant
  readonly refused: string | undefined
  readonly severity: Severity
  readonly skeleton: Hash64 | undefined
  readonly messageRank: number
  readonly hasAttributes: boolean
  readonly origin: number
  readonly postHigh: number
  readonly postLow: number
  private readonly keys: KnownKey[] = []
  private readonly texts: string[] = []
  private readonly block: BlockBuilder
  private paths: ReadonlySet<string> | undefined

  constructor(arrival: Arrival, known: KnownKeys, block: BlockBuilder) {
    this.arrival = arrival
    this.block = block
    const { tellsSeverity, isMessage } = this.readAttributes(known)
    const { instant, refused } = eventTime(NO_LEAF, arrival)
    this.tellsSeverity = tellsSeverity && arrival.severity === undefined
    this.time = instant
    this.refused = refused
    this.severity = arrival.severity ?? (tellsSeverity ? severityOf((path) => this.textOf(path)) : 'none')
    this.messageRank = isMessage ? messageKeys.findIndex((path) => this.textOf(path) !== undefined) : -1
    const message = this.textOf(messageKeys[this.messageRank] ?? '')
    this.skeleton = this.messageRank < 0 || message === undefined ? undefined : skeletonHash(message)
    this.hasAttributes = this.keys.length > 0
    this.origin = block.origin.indexOf(arrival.origin)
    this.postHigh = Number(arrival.post >> 32n)
    this.postLow = Number(arrival.post & 0xffff_ffffn)
  }

  has(path: string): boolean {
    if (this.keys.length === 0) return false
    this.paths ??= new Set(this.keys.map((key) => key.path))
    return this.paths.has(path)
  }

  addAttributes(row: number): void {
    const { keys, texts } = this
    for (let at = 0; at < keys.length; at += 1) {
      const { column, path } = keys[at] as KnownKey
      const text = toSlot(texts[at] as string)
      if (column) column.addText(row, text)
      else {
        const bytes = Buffer.from(text, 'utf8')
        this.block.more.add(row, path, bytes, 0, bytes.length)
      }
    }
  }

  /** Keeps the attributes; the last of two with one path counts. */
  private readAttributes(known: KnownKeys): { tellsSeverity: boolean; isMessage: boolean } {
    const { keys, texts, arrival } = this
    const serial = known.nextSet()
    const found = { tellsSeverity: false, isMessage: false }
    for (const { path, text } of arrival.attributes) {
      const key = known.of(path)
      if (key.set !== serial) {
        key.set = serial
        key.at = keys.length
        keys.push(key)
      }
      texts[key.at] = cleanText(text)
      if (key.tellsSeverity) found.tellsSeverity = true
      if (key.message >= 0) found.isMessage = true
    }
    return found
  }

  textOf(path: string): string | undefined {
    return this.texts[this.keys.findIndex((key) => key.path === path)]
  }
}

const NO_LEAF = () => undefined
