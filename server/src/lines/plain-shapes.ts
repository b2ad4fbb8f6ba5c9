import type { KnownKey } from './known-keys.ts'
import type { PlainText } from './plain-text.ts'
import { SHAPE_CHARS_MAX, timeReference, WORDS_REFERENCE } from './shape.ts'
import type { LiveShape, ShapeLedger } from './shape-ledger.ts'

type KnownShape = { readonly bytes: Uint8Array; readonly live: LiveShape }

const KNOWN_MAX = 4_096
/** A line that is longer than this has no shape here, and a reference is shorter than its name and eight more bytes. */
const FIRST_BYTES = 4_096

const words = bytesOf(WORDS_REFERENCE)

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text))
}

/** Finds the shapes of ASCII lines by their bytes, so that only new shapes become strings. */
export class PlainShapes {
  private readonly ledger: ShapeLedger
  private bytes = new Uint8Array(FIRST_BYTES)
  private used = 0
  private readonly known = new Map<number, KnownShape>()
  /** The references as bytes, by their texts. */
  private readonly references = new Map<string, Uint8Array>()
  /** The references to times as bytes, by their formats. */
  private readonly times = new Map<string, Uint8Array>()

  /** The shape that was found last, and the keys or formats of times that `write` put into it. Most lines of a program have the same. */
  private last: KnownShape | undefined
  private readonly cutKeys: (KnownKey | undefined)[] = []
  private readonly cutFormats: string[] = []
  private readonly cutLengths: number[] = []
  private cuts = 0
  private hasWords = false

  constructor(ledger: ShapeLedger) {
    this.ledger = ledger
  }

  /** The shape of a line, of which `keys` are the keys of its leaves; undefined when the line must be stored raw. */
  of(line: Uint8Array, found: PlainText, keys: readonly KnownKey[]): LiveShape | undefined {
    if (this.last && this.isLast(this.last.bytes, line, found, keys)) return this.last.live
    this.last = undefined
    if (!this.write(line, found, keys)) return undefined
    const { bytes, used } = this
    let hash = used
    for (let at = 0; at < used; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
    const known = this.known.get(hash)
    if (known && this.equals(known.bytes)) {
      this.last = known
      return known.live
    }
    const live = this.ledger.admit(Buffer.from(bytes.buffer, 0, used).toString('utf8'))
    if (live) {
      if (this.known.size >= KNOWN_MAX) this.known.clear()
      this.last = { bytes: bytes.slice(0, used), live }
      this.known.set(hash, this.last)
    }
    return live
  }

  private equals(known: Uint8Array): boolean {
    if (known.length !== this.used) return false
    for (let at = 0; at < known.length; at += 1) if (known[at] !== this.bytes[at]) return false
    return true
  }

  /** True for a line with the shape of the previous one: `write` would write the same. */
  private isLast(shape: Uint8Array, line: Uint8Array, found: PlainText, keys: readonly KnownKey[]): boolean {
    const { count, starts, ends, wordsStart, timeEnd } = found
    if (this.hasWords !== wordsStart < line.length) return false
    let timeStart = found.timeStart < 0 ? Number.POSITIVE_INFINITY : found.timeStart
    let shapedTo = 0
    let cuts = 0
    let used = 0
    for (let leaf = 0; leaf <= count; leaf += 1) {
      const start = leaf < count ? (starts[leaf] as number) : line.length
      if (start > timeStart) {
        if (timeStart >= shapedTo && timeEnd <= wordsStart) {
          if (this.cutKeys[cuts] !== undefined || this.cutFormats[cuts] !== found.format) return false
          if (!isAt(shape, used, line, shapedTo, timeStart)) return false
          used += timeStart - shapedTo + (this.cutLengths[cuts] as number)
          shapedTo = timeEnd
          cuts += 1
        }
        timeStart = Number.POSITIVE_INFINITY
      }
      if (leaf === count || start < shapedTo || (ends[leaf] as number) > wordsStart) continue
      if (this.cutKeys[cuts] !== keys[leaf] || !isAt(shape, used, line, shapedTo, start)) return false
      used += start - shapedTo + (this.cutLengths[cuts] as number)
      shapedTo = ends[leaf] as number
      cuts += 1
    }
    if (cuts !== this.cuts) return false
    const rest = Math.max(0, wordsStart - shapedTo)
    return used + rest + (this.hasWords ? words.length : 0) === shape.length && isAt(shape, used, line, shapedTo, wordsStart)
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
          this.cut(cuts, undefined, found.format, this.timeOf(found.format))
          shapedTo = timeEnd
          cuts += 1
        }
        timeStart = Number.POSITIVE_INFINITY
      }
      if (leaf === count || start < shapedTo || (ends[leaf] as number) > wordsStart) continue
      this.put(line, shapedTo, start)
      const key = keys[leaf] as KnownKey
      this.cut(cuts, key, '', this.referenceOf(key))
      shapedTo = ends[leaf] as number
      cuts += 1
    }
    this.put(line, shapedTo, wordsStart)
    if (cuts === 0 || this.used > SHAPE_CHARS_MAX) return false
    if (wordsStart < line.length) this.putWhole(words)
    this.cuts = cuts
    this.hasWords = wordsStart < line.length
    return true
  }

  /** Writes a reference in place of a leaf or a time. */
  private cut(number: number, key: KnownKey | undefined, format: string, reference: Uint8Array): void {
    this.cutKeys[number] = key
    this.cutFormats[number] = format
    this.cutLengths[number] = reference.length
    this.putWhole(reference)
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
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.used + more))
    grown.set(this.bytes.subarray(0, this.used))
    this.bytes = grown
  }
}

/** True when a shape has a part of the line at a position. */
function isAt(shape: Uint8Array, at: number, line: Uint8Array, start: number, end: number): boolean {
  if (at + end - start > shape.length) return false
  const ahead = at - start
  for (let place = start; place < end; place += 1) if (shape[ahead + place] !== line[place]) return false
  return true
}
