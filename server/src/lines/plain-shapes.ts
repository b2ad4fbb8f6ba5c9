import type { KnownKey } from './known-keys.ts'
import type { PlainText } from './plain-text.ts'
import { SHAPE_CHARS_MAX, timeReference, WORDS_REFERENCE } from './shape.ts'
import type { LiveShape, ShapeLedger } from './shape-ledger.ts'

/** `numbers` holds the bytes, four in each, and ends with zeros. */
type KnownShape = { readonly numbers: Int32Array; readonly length: number; readonly live: LiveShape }

const KNOWN_MAX = 4_096
/** A line that is longer than this has no shape here, and a reference is shorter than its name and eight more bytes. */
const FIRST_BYTES = 4_096
const WORD_BYTES = 4

const words = bytesOf(WORDS_REFERENCE)

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text))
}

/** Finds the shapes of ASCII lines by their bytes, so that only new shapes become strings. */
export class PlainShapes {
  private readonly ledger: ShapeLedger
  private bytes = new Uint8Array(FIRST_BYTES)
  private asNumbers = new Int32Array(this.bytes.buffer)
  private used = 0
  private readonly known = new Map<number, KnownShape>()
  /** The references as bytes, by their texts. */
  private readonly references = new Map<string, Uint8Array>()
  /** The references to times as bytes, by their formats. */
  private readonly times = new Map<string, Uint8Array>()

  constructor(ledger: ShapeLedger) {
    this.ledger = ledger
  }

  /** The shape of a line, of which `keys` are the keys of its leaves; undefined when the line must be stored raw. */
  of(line: Uint8Array, found: PlainText, keys: readonly KnownKey[]): LiveShape | undefined {
    if (!this.write(line, found, keys)) return undefined
    const { asNumbers, used } = this
    const count = this.endWord()
    let hash = used
    for (let at = 0; at < count; at += 1) {
      hash = Math.imul(hash ^ (asNumbers[at] as number), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    const known = this.known.get(hash)
    if (known && this.equals(known)) return known.live
    const live = this.ledger.admit(Buffer.from(asNumbers.buffer, 0, used).toString('utf8'))
    if (live) {
      if (this.known.size >= KNOWN_MAX) this.known.clear()
      this.known.set(hash, { numbers: asNumbers.slice(0, count), length: used, live })
    }
    return live
  }

  /** Fills the last word with zeros and returns the number of words. */
  private endWord(): number {
    const { bytes, used } = this
    const count = Math.ceil(used / WORD_BYTES)
    for (let at = used; at < count * WORD_BYTES; at += 1) bytes[at] = 0
    return count
  }

  private equals({ numbers, length }: KnownShape): boolean {
    const { asNumbers } = this
    if (length !== this.used) return false
    for (let at = 0; at < numbers.length; at += 1) if (numbers[at] !== asNumbers[at]) return false
    return true
  }

  /** Writes the shape; false when the line has none. */
  private write(line: Uint8Array, found: PlainText, keys: readonly KnownKey[]): boolean {
    const { count, starts, ends, wordsStart, timeEnd } = found
    let timeStart = found.timeStart < 0 ? Number.POSITIVE_INFINITY : found.timeStart
    let shapedTo = 0
    let cuts = 0
    this.used = 0
    for (let leaf = 0; leaf <= count; leaf += 1) {
      const start = leaf < count ? (starts[leaf] as number) : line.length
      if (start > timeStart) {
        if (timeStart >= shapedTo && timeEnd <= wordsStart) {
          this.put(line, shapedTo, timeStart)
          this.putWhole(this.timeOf(found.format))
          shapedTo = timeEnd
          cuts += 1
        }
        timeStart = Number.POSITIVE_INFINITY
      }
      if (leaf === count || start < shapedTo || (ends[leaf] as number) > wordsStart) continue
      this.put(line, shapedTo, start)
      this.putWhole(this.referenceOf(keys[leaf] as KnownKey))
      shapedTo = ends[leaf] as number
      cuts += 1
    }
    this.put(line, shapedTo, wordsStart)
    if (cuts === 0 || this.used > SHAPE_CHARS_MAX) return false
    if (wordsStart < line.length) this.putWhole(words)
    return true
  }

  private timeOf(format: string): Uint8Array {
    let bytes = this.times.get(format)
    if (!bytes) {
      if (this.times.size >= KNOWN_MAX) this.times.clear()
      bytes = bytesOf(timeReference(format))
      this.times.set(format, bytes)
    }
    return bytes
  }

  private referenceOf({ reference }: KnownKey): Uint8Array {
    let bytes = this.references.get(reference)
    if (!bytes) {
      if (this.references.size >= KNOWN_MAX) this.references.clear()
      bytes = bytesOf(reference)
      this.references.set(reference, bytes)
    }
    return bytes
  }

  private putWhole(bytes: Uint8Array): void {
    this.put(bytes, 0, bytes.length)
  }

  private put(source: Uint8Array, start: number, end: number): void {
    if (this.used + end - start > this.bytes.length) this.grow(end - start)
    const { bytes } = this
    let put = this.used
    for (let at = start; at < end; at += 1) bytes[put++] = source[at] as number
    this.used = put
  }

  private grow(more: number): void {
    const size = Math.max(this.bytes.length * 2, this.used + more)
    const grown = new Uint8Array(Math.ceil(size / WORD_BYTES) * WORD_BYTES)
    grown.set(this.bytes.subarray(0, this.used))
    this.bytes = grown
    this.asNumbers = new Int32Array(grown.buffer)
  }
}
