import type { BlockBuilder } from './block.ts'
import { type Arrival, eventTime, isAcceptable, isAttributeName } from './event.ts'
import { type KnownKey, KnownKeys } from './known-keys.ts'
import { toSlot } from './leaf-text.ts'
import type { MessageHash } from './message-hash.ts'
import { PlainText } from './plain-text.ts'
import { type Severity, severityOf } from './severity.ts'
import type { SlotMap } from './slots.ts'
import { type FoundText, NOT_IN_LINE } from './text-line.ts'
import type { Instant } from './time-text.ts'

/** Reads the message of a JSON line like a line of its own. Both ways find the same. */
export type MessageReader = {
  /** The part of the bytes that is read: without blanks around it. */
  part(bytes: Uint8Array, start: number, end: number): Uint8Array
  /** Reads a part by its bytes; `unknown` where only `detect` can. */
  read(part: Uint8Array, at: Instant, found: PlainText): 'found' | 'nothing' | 'unknown'
  detect(message: string, at: Instant): FoundText | undefined
}

const EMPTY_VALUE = Buffer.from(toSlot(''))

/** The values that the message of a line contains. They hold until the next line. */
export class MessageParts {
  private readonly found = new PlainText()
  private text: Uint8Array = EMPTY_VALUE
  private readonly keys: KnownKeys
  private readonly block: BlockBuilder
  private readonly reader: MessageReader
  /** The keys of the message, and the last leaf of each. */
  private readonly row: KnownKey[] = []
  private readonly leaves: number[] = []
  private count = 0
  /** The positions in `row` of the keys that the line itself does not have. */
  private readonly added: number[] = []
  private addedCount = 0

  constructor(map: SlotMap, block: BlockBuilder, reader: MessageReader) {
    this.keys = new KnownKeys(map, block)
    this.block = block
    this.reader = reader
  }

  /** Reads a message. `unusual` is one that only the reference reads. */
  read(bytes: Uint8Array, start: number, end: number, at: Instant): 'found' | 'nothing' | 'unusual' {
    const { reader, found } = this
    this.text = reader.part(bytes, start, end)
    const result = reader.read(this.text, at, found)
    if (result === 'nothing') return result
    if (result === 'unknown') {
      const { buffer, byteOffset, length } = this.text
      const detected = reader.detect(Buffer.from(buffer, byteOffset, length).toString('utf8'), at)
      if (!detected) return 'nothing'
      if (!found.setFound(detected)) return 'unusual'
    }
    this.readKeys()
    return 'found'
  }

  /** The last of several leaves with one path counts. */
  private readKeys(): void {
    const { found, keys, row, leaves } = this
    const serial = keys.nextSet()
    this.count = 0
    for (let leaf = 0; leaf < found.count; leaf += 1) {
      if (found.starts[leaf] === NOT_IN_LINE && !found.derived[leaf]) continue
      const key = keys.of(found.paths[leaf] as string)
      if (key.set !== serial) {
        key.set = serial
        key.at = this.count
        row[this.count] = key
        this.count += 1
      }
      leaves[key.at] = leaf
    }
  }

  /** Adds the values of keys that the line and its attributes do not have. */
  addValues(line: { hasKey(path: string): boolean }, attributes: { has(path: string): boolean }): void {
    const { block, row, added } = this
    this.addedCount = 0
    for (let at = 0; at < this.count; at += 1) {
      const { path, column } = row[at] as KnownKey
      if (isAttributeName(path) || line.hasKey(path) || attributes.has(path)) continue
      added[this.addedCount] = at
      this.addedCount += 1
      const leaf = this.leaves[at] as number
      const source = this.sourceOf(leaf)
      const [start, end] = [this.startOf(leaf), this.endOf(leaf)]
      const isEmpty = start === end
      const [bytes, from, to] = isEmpty ? [EMPTY_VALUE, 0, EMPTY_VALUE.length] : [source, start, end]
      if (column) column.add(block.rows, bytes, from, to)
      else block.more.add(block.rows, path, bytes, from, to)
    }
  }

  /** Hashes the message within the message if it is a better one than that of the line; false otherwise. */
  hashMessage(masker: MessageHash, ownRank: number): boolean {
    let best: KnownKey | undefined
    for (let at = 0; at < this.addedCount; at += 1) {
      const key = this.row[this.added[at] as number] as KnownKey
      if (key.message >= 0 && key.message < (best?.message ?? ownRank)) best = key
    }
    if (!best) return false
    const leaf = this.leaves[best.at] as number
    masker.hash(this.sourceOf(leaf), this.startOf(leaf), this.endOf(leaf))
    return true
  }

  /** The severity that the message gives. */
  severity(): Severity {
    const { found, row } = this
    if (found.severity) return found.severity
    for (let at = 0; at < this.count; at += 1) if ((row[at] as KnownKey).tellsSeverity) return severityOf((path) => this.textOf(path))
    return 'none'
  }

  /** The time that the message gives, if it has an acceptable one. */
  time(arrival: Arrival): Instant | undefined {
    const { found } = this
    if (found.timeStart >= 0 && isAcceptable(found, arrival.at)) return { ms: found.ms, ns: found.ns }
    for (let at = 0; at < this.count; at += 1) {
      if ((this.row[at] as KnownKey).time < 0) continue
      const { at: now, attributes, origin, post } = arrival
      const { instant, path } = eventTime((key) => this.textOf(key), { at: now, attributes, origin, post })
      return path === undefined ? undefined : instant
    }
    return undefined
  }

  private textOf(path: string): string | undefined {
    for (let at = 0; at < this.count; at += 1) {
      if ((this.row[at] as KnownKey).path !== path) continue
      const leaf = this.leaves[at] as number
      const { buffer, byteOffset, length } = this.sourceOf(leaf)
      return Buffer.from(buffer, byteOffset, length).toString('utf8', this.startOf(leaf), this.endOf(leaf))
    }
    return undefined
  }

  private sourceOf = (leaf: number): Uint8Array => this.found.derived[leaf] ?? this.text
  private startOf = (leaf: number): number => (this.found.derived[leaf] ? this.found.derivedStarts : this.found.starts)[leaf] as number
  private endOf = (leaf: number): number => (this.found.derived[leaf] ? this.found.derivedEnds : this.found.ends)[leaf] as number
}
