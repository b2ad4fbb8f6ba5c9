import type { PlainText } from '../../lines/plain-text.ts'
import { BEFORE, BEHIND, FIRST, kinds, NAME, NAME_CHARS_MAX, PAIRS_MAX, PAIRS_MIN } from './pairs.ts'

const [EQUALS, DOUBLE, SINGLE, BACKSLASH] = [0x3d, 0x22, 0x27, 0x5c]
const NAMES_MAX = 4_096
/** The result of reading a value that is not part of a pair. */
const NONE = -1
const ESCAPES: ReadonlyMap<number, number> = new Map(['n\n', 't\t', 'r\r'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]))

/** The pairs of a line: whether they are all it contains, whether there are some, or whether only findPairs can read them. */
export type PairsResult = 'whole' | 'some' | 'none' | 'unknown'

/** Reads the pairs of an ASCII line as findPairs does, and adds them as leaves. Paths that are there already take precedence. */
export class PairReader {
  private readonly names = new Map<number, string>()
  /** The names of the pairs of the previous line in order. Most lines of a program have the same. */
  private readonly expected: string[] = []
  /** The position of the value that was read last; valueStart is -1 for none. */
  private valueStart = -1
  private valueEnd = -1
  private isEscaped = false

  /** `signs` are the positions of the first `signCount` equals signs of the line, which are all. */
  read(bytes: Uint8Array, from: number, to: number, whole: number, found: PlainText, signs: Int32Array, signCount: number): PairsResult {
    const outer = found.count
    let pairs = 0
    let isWhole = true
    let checkedTo = whole
    let at = from
    for (let sign = 0; sign < signCount; sign += 1) {
      const equals = signs[sign] as number
      if (equals >= to) break
      if (equals < at) continue
      const start = nameStart(bytes, at, equals, from)
      const next = start < 0 ? NONE : this.value(bytes, equals + 1, to)
      at = next === NONE ? equals + 1 : next
      if (next === NONE) continue
      isWhole &&= isFixed(bytes, checkedTo, start) && !this.isEscaped
      checkedTo = next
      if (this.valueStart < 0) continue
      pairs += 1
      if (pairs === PAIRS_MAX) return 'unknown'
      const path = this.nameOf(bytes, start, equals, pairs - 1)
      const place = found.paths.indexOf(path)
      if (place >= 0 && place < outer) isWhole = false
      else if (this.isEscaped) found.addDerived(path, unescaped(bytes, this.valueStart, this.valueEnd))
      else found.add(path, this.valueStart, this.valueEnd)
    }
    if (pairs < PAIRS_MIN) {
      found.count = outer
      return 'none'
    }
    return isWhole && isFixed(bytes, checkedTo, to) ? 'whole' : 'some'
  }

  /** Reads the value at a position and returns the position behind it. */
  private value(bytes: Uint8Array, start: number, to: number): number {
    const byte = start < to ? bytes[start] : 0
    this.valueStart = -1
    this.isEscaped = false
    if (byte === DOUBLE || byte === SINGLE) return this.quoted(bytes, byte, start + 1, to)
    if (endsAt(bytes, start, to)) return start
    if (byte === EQUALS) return NONE
    let end = start
    while (end < to && !((kinds[bytes[end] as number] as number) & BEHIND)) end += 1
    this.valueStart = start
    this.valueEnd = end
    return end
  }

  private quoted(bytes: Uint8Array, quote: number, start: number, to: number): number {
    let close = start
    while (close < to && bytes[close] !== quote) {
      if (quote === DOUBLE && bytes[close] === BACKSLASH) {
        this.isEscaped = true
        close += 1
      }
      close += 1
    }
    if (close >= to || !endsAt(bytes, close + 1, to)) return NONE
    this.valueStart = start
    this.valueEnd = close
    return close + 1
  }

  private nameOf(bytes: Uint8Array, start: number, end: number, place: number): string {
    const expected = this.expected[place]
    if (expected !== undefined && isName(expected, bytes, start, end)) return expected
    const name = this.knownName(bytes, start, end)
    this.expected[place] = name
    return name
  }

  private knownName(bytes: Uint8Array, start: number, end: number): string {
    let hash = end - start
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
    const known = this.names.get(hash)
    if (known !== undefined && isName(known, bytes, start, end)) return known
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
    if (this.names.size >= NAMES_MAX) this.names.clear()
    this.names.set(hash, name)
    return name
  }
}

/** A quoted value without its escapes. */
function unescaped(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const out = new Uint8Array(end - start)
  let used = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte === BACKSLASH) {
      at += 1
      const escaped = bytes[at] as number
      out[used++] = ESCAPES.get(escaped) ?? escaped
    } else out[used++] = byte
  }
  return out.subarray(0, used)
}

function isName(name: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) !== bytes[start + at]) return false
  return true
}

/** The start of the name before the equals sign, -1 for none. */
function nameStart(bytes: Uint8Array, at: number, equals: number, from: number): number {
  let start = equals
  while (start > at && (kinds[bytes[start - 1] as number] as number) & NAME) start -= 1
  if (start === equals || equals - start > NAME_CHARS_MAX || !((kinds[bytes[start] as number] as number) & FIRST)) return -1
  return start === from || (kinds[bytes[start - 1] as number] as number) & BEFORE ? start : -1
}

const endsAt = (bytes: Uint8Array, at: number, to: number): boolean => at >= to || ((kinds[bytes[at] as number] as number) & BEHIND) !== 0

/** True when only punctuation, quotes and spaces lie between two positions. */
function isFixed(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    if (!((kinds[byte] as number) & (BEFORE | BEHIND)) && byte !== DOUBLE && byte !== SINGLE) return false
  }
  return true
}
