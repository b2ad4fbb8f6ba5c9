import { decodeText, encodings } from './leaf-text.ts'
import {
  ARRAY,
  BACKSLASH,
  BROKEN,
  byteClass,
  END,
  endOfBrackets,
  endOfText,
  endOfWord,
  isNameless,
  isNull,
  NULL,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  SCALAR,
  SCALAR_BYTE,
  SPECIAL,
  STRING,
  Walk,
  type WalkStep,
} from './walk.ts'

/** Lines with more values, nulls included, are not matched. */
export const VALUES_MAX = 2_048
const TRANSITIONS_MAX = 16_384
const LITERAL_BYTES_MAX = 4 * 2 ** 20
const FIRST_TRANSITIONS = 64
const NONE = -1
/** The line must go to the reference. */
const UNUSUAL = -2
/** The line ends within the value. */
const CUT = -3
const START = 0
/** The bytes that the letters after a backslash stand for, 0 for other letters. A shape does not rebuild an escaped slash. */
const shortEscapes = makeShortEscapes()
const [SLASH, LOWER_U] = [0x2f, 0x75]

function makeShortEscapes(): Uint8Array {
  const bytes = new Uint8Array(256)
  for (const [code, char] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' })) {
    bytes[code.charCodeAt(0)] = char.charCodeAt(0)
  }
  return bytes
}

/** Literals are hashed up to this length. Keys with a longer common prefix are compared one by one. */
const HASHED_BYTES_MAX = 96

/** Leads from one value of a line to the next: the key, the literal before the value, and the kind of the value. */
export type Transition = {
  readonly kind: WalkStep
  readonly path: string
  readonly literal: string
  /** The prefixes of the objects around the value, and the prefix of the object in which the literal begins. */
  readonly prefixes: readonly string[]
  readonly before: string | undefined
}

/**
 * Finds the values of a line by comparing it with earlier lines. After each value it expects the literal that followed last time, compares
 * it, and scans to the end of the next value. It learns new transitions from a Walk, so it finds exactly what a Walk finds.
 *
 * A state is only the list of open objects. A key that is sometimes missing therefore adds one transition, not a new chain.
 */
export class LineMatcher {
  /** The following fields describe the last matched line: its values in order, END last. */
  count = 0
  /** Transition and encoding of each value. Lines with the same symbols have the same shape. */
  readonly symbols = new Int32Array(VALUES_MAX)
  readonly starts = new Int32Array(VALUES_MAX)
  readonly ends = new Int32Array(VALUES_MAX)
  /** Holds decoded values with escapes; other values are read from the line. Starts in scratch are counted downwards from -1. */
  scratch: Buffer = Buffer.allocUnsafeSlow(4_096)
  symbolHash = 0
  /** False for a line that is not a JSON object to its end; the values are those before that place, without END. */
  isWhole = true
  /** False when no shape can rebuild the line: it is not whole, or a text is written as no encoding would. */
  isExact = true
  private scratchUsed = 0

  private literals: Buffer = Buffer.allocUnsafeSlow(4_096)
  private literalView = viewOf(this.literals)
  /** Reads four bytes at once from the memory of the line, whose bytes begin at `lineBase`. */
  private view = this.literalView
  private lineBase = 0
  private literalsUsed = 0
  private size = 0
  private literalAt = new Int32Array(FIRST_TRANSITIONS)
  private literalLength = new Int32Array(FIRST_TRANSITIONS)
  private kind = new Uint8Array(FIRST_TRANSITIONS)
  private from = new Int32Array(FIRST_TRANSITIONS)
  private to = new Int32Array(FIRST_TRANSITIONS)
  /** The transition that followed last time. */
  private likely = new Int32Array(FIRST_TRANSITIONS)
  /** The next transition in the same bucket. */
  private sibling = new Int32Array(FIRST_TRANSITIONS)
  private buckets = new Int32Array(FIRST_TRANSITIONS * 2).fill(NONE)
  private readonly known: Transition[] = []
  private readonly contexts: (readonly string[])[] = [[]]
  private readonly contextNumbers = new Map<string, number>([['[]', 0]])

  constructor() {
    // The first transition leads to the beginning of a line and is never followed.
    this.put({ kind: BROKEN, path: '', literal: '', prefixes: [], before: undefined }, Buffer.alloc(0), 0, 0)
  }

  /** True when the matcher has reached its bounds because lines keep differing. Replace it with a new one. */
  get full(): boolean {
    return this.size >= TRANSITIONS_MAX || this.literalsUsed >= LITERAL_BYTES_MAX
  }

  transition(symbol: number): Transition {
    const found = this.known[symbol >> 2]
    if (!found) throw new Error('a symbol names no transition')
    return found
  }

  /** Finds the values of a line, as far as it is JSON; false for a line that only the reference can split. */
  match(bytes: Uint8Array, start: number, end: number): boolean {
    const { symbols } = this
    let last = START
    let at = start
    let count = 0
    let hash = 0
    this.findStructure(bytes)
    this.scratchUsed = 0
    this.isWhole = true
    this.isExact = true
    do {
      if (count === VALUES_MAX) return false
      let taken = this.likely[last] as number
      let next = taken === NONE ? NONE : this.follow(taken, bytes, at, end, count)
      if (next === NONE) {
        taken = this.find(this.to[last] as number, bytes, at, end, count)
        if (taken !== NONE) {
          this.likely[last] = taken
          next = this.follow(taken, bytes, at, end, count)
        }
      }
      if (next === CUT) this.isWhole = false
      if (!this.isWhole) break
      if (next < 0) return false
      hash = Math.imul(hash ^ (symbols[count] as number), 0x9e3779b1)
      hash ^= hash >>> 15
      at = next
      last = taken
      count += 1
    } while (this.kind[last] !== END)
    this.count = count
    this.symbolHash = hash
    this.isExact &&= this.isWhole
    return true
  }

  private findStructure(bytes: Uint8Array): void {
    if (this.view.buffer !== bytes.buffer) this.view = new DataView(bytes.buffer)
    this.lineBase = bytes.byteOffset
  }

  /**
   * Tries one transition. Returns the position after its value, NONE when the transition does not fit, CUT when the value has no end, or UNUSUAL when the
   * line must go to the reference.
   */
  private follow(transition: number, bytes: Uint8Array, start: number, end: number, value: number): number {
    const length = this.literalLength[transition] as number
    const at = start + length
    if (at > end || !this.isLiteral(transition, bytes, start, length)) return NONE
    this.symbols[value] = transition << 2
    this.starts[value] = at
    const kind = this.kind[transition] as WalkStep
    if (kind === STRING) return this.endOfString(bytes, at, end, transition, value)
    if (kind === SCALAR) {
      const stop = endOfWord(bytes, at, end)
      this.ends[value] = stop
      return stop === at || isNull(bytes, at, stop) ? NONE : stop
    }
    if (kind === NULL) return at < end && byteClass[bytes[at] as number] === SCALAR_BYTE ? NONE : at
    if (kind === END) return at === end ? at : NONE
    const opening = kind === ARRAY ? OPEN_ARRAY : OPEN_OBJECT
    return at < end && bytes[at] === opening ? this.endOfCompound(bytes, at, end, value) : NONE
  }

  private isLiteral(transition: number, bytes: Uint8Array, start: number, length: number): boolean {
    const { literals, literalView, view } = this
    const literal = this.literalAt[transition] as number
    const base = this.lineBase + start
    let at = 0
    for (; at + 4 <= length; at += 4) if (literalView.getInt32(literal + at) !== view.getInt32(base + at)) return false
    for (; at < length; at += 1) if (literals[literal + at] !== bytes[start + at]) return false
    return true
  }

  private endOfString(bytes: Uint8Array, start: number, end: number, transition: number, value: number): number {
    let at = start
    while (at < end && byteClass[bytes[at] as number] !== SPECIAL) at += 1
    if (at === end) return CUT
    if (bytes[at] !== QUOTE) return this.endOfEscaped(bytes, start, at, end, transition, value)
    this.ends[value] = at
    return at + 1
  }

  /**
   * Decodes a text with escapes or control characters into scratch. The short escapes are the same in all encodings. Escapes that JSON does not have stay
   * as they are.
   */
  private endOfEscaped(bytes: Uint8Array, start: number, first: number, end: number, transition: number, value: number): number {
    const from = this.scratchUsed
    // A decoded text is never longer than its source.
    if (from + end - start > this.scratch.length) this.scratch = grown(this.scratch, from, end - start)
    const { scratch } = this
    let used = from
    let isOdd = false
    for (let at = start; at < first; at += 1) scratch[used++] = bytes[at] as number
    for (let at = first; at < end; at += 1) {
      let byte = bytes[at] as number
      if (byte === QUOTE) {
        if (isOdd) this.setOdd(transition, value)
        this.endScratch(value, from, used)
        return at + 1
      }
      if (byte === BACKSLASH) {
        at += 1
        if (at >= end) return CUT
        const escaped = bytes[at] as number
        if (escaped === LOWER_U) return this.endOfEncoded(bytes, start, end, transition, value)
        const decoded = shortEscapes[escaped] as number
        if (decoded === 0) {
          isOdd = true
          if (escaped !== SLASH) scratch[used++] = BACKSLASH
          byte = escaped
        } else byte = decoded
      } else if (byteClass[byte] === SPECIAL) isOdd = true
      if (byte !== 0) scratch[used++] = byte
    }
    return CUT
  }

  /** Marks a value that no encoding reproduces. */
  private setOdd(transition: number, value: number): void {
    this.symbols[value] = (transition << 2) | encodings.length
    this.isExact = false
  }

  /** Decodes a text that also has other escapes; they decide its encoding. */
  private endOfEncoded(bytes: Uint8Array, start: number, end: number, transition: number, value: number): number {
    const close = endOfText(bytes, start, end)
    if (close < 0) return CUT
    const { text, encoding } = decodeText(Buffer.from(bytes.buffer, bytes.byteOffset + start, close - start).toString('utf8'))
    if (encoding === undefined) this.setOdd(transition, value)
    else this.symbols[value] = (transition << 2) | encodings.indexOf(encoding)
    this.endScratch(value, this.scratchUsed, this.scratchUsed + this.scratch.write(text, this.scratchUsed, 'utf8'))
    return close + 1
  }

  private endScratch(value: number, from: number, to: number): void {
    this.starts[value] = -1 - from
    this.ends[value] = -1 - to
    this.scratchUsed = to
  }

  private endOfCompound(bytes: Uint8Array, start: number, end: number, value: number): number {
    const stop = endOfBrackets(bytes, start, end)
    if (stop < 0) return CUT
    for (let at = start; at < stop; at += 1) if (bytes[at] === 0) return UNUSUAL
    this.ends[value] = stop
    return stop
  }

  /** Searches all transitions of a context and learns a missing one. */
  private find(context: number, bytes: Uint8Array, at: number, end: number, value: number): number {
    const bucket = this.bucketOf(context, bytes, at, end)
    for (let transition = this.buckets[bucket] as number; transition !== NONE; transition = this.sibling[transition] as number) {
      if (this.from[transition] === context && this.follow(transition, bytes, at, end, value) !== NONE) return transition
    }
    return this.learn(context, bytes, at, end)
  }

  private learn(context: number, bytes: Uint8Array, start: number, end: number): number {
    if (this.full) return NONE
    const walk = new Walk(bytes, start, end, this.contexts[context])
    const kind = walk.next()
    this.isWhole = kind !== BROKEN
    if (kind === BROKEN || walk.rawControl || (kind !== END && isNameless(walk.path))) return NONE
    const literalEnd = kind === END ? end : kind === NULL ? walk.valueEnd : walk.valueStart
    const literal = Buffer.from(bytes.subarray(start, literalEnd))
    const before = this.contexts[context]?.at(-1)
    const transition = { kind, path: walk.path, literal: literal.toString('utf8'), prefixes: [...walk.prefixes], before }
    return this.put(transition, literal, context, kind === END ? context : this.contextNumber(walk.prefixes))
  }

  private contextNumber(prefixes: readonly string[]): number {
    const name = JSON.stringify(prefixes)
    const known = this.contextNumbers.get(name)
    if (known !== undefined) return known
    const number = this.contexts.length
    this.contextNumbers.set(name, number)
    this.contexts.push([...prefixes])
    return number
  }

  private put(transition: Transition, literal: Buffer, from: number, to: number): number {
    const number = this.size
    if (number === this.kind.length) this.growTransitions()
    if (this.literalsUsed + literal.length > this.literals.length) {
      this.literals = grown(this.literals, this.literalsUsed, literal.length)
      this.literalView = viewOf(this.literals)
    }
    this.literals.set(literal, this.literalsUsed)
    this.literalAt[number] = this.literalsUsed
    this.literalLength[number] = literal.length
    this.literalsUsed += literal.length
    this.kind[number] = transition.kind
    this.from[number] = from
    this.to[number] = to
    this.likely[number] = NONE
    this.known.push(transition)
    this.size += 1
    if (number > START) this.link(number)
    return number
  }

  private link(number: number): void {
    const at = this.literalAt[number] as number
    const bucket = this.bucketOf(this.from[number] as number, this.literals, at, at + (this.literalLength[number] as number))
    this.sibling[number] = this.buckets[bucket] as number
    this.buckets[bucket] = number
  }

  /** Hashes the part that distinguishes most literals: up to the end of the first name. */
  private bucketOf(context: number, bytes: Uint8Array, start: number, end: number): number {
    const limit = Math.min(end, start + HASHED_BYTES_MAX)
    let hash = context
    let quotes = 0
    for (let at = start; at < limit && quotes < 2; at += 1) {
      const byte = bytes[at] as number
      if (byte === QUOTE) quotes += 1
      hash = Math.imul(hash ^ byte, 0x01000193)
    }
    return ((hash ^ (hash >>> 15)) >>> 0) % this.buckets.length
  }

  private growTransitions(): void {
    const size = this.size * 2
    const grow = (old: Int32Array<ArrayBuffer>) => {
      const array = new Int32Array(size)
      array.set(old)
      return array
    }
    const kind = new Uint8Array(size)
    kind.set(this.kind)
    this.kind = kind
    this.literalAt = grow(this.literalAt)
    this.literalLength = grow(this.literalLength)
    this.from = grow(this.from)
    this.to = grow(this.to)
    this.likely = grow(this.likely)
    this.sibling = new Int32Array(size)
    this.buckets = new Int32Array(size * 2).fill(NONE)
    for (let number = START + 1; number < this.size; number += 1) this.link(number)
  }
}

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

function grown(old: Buffer, used: number, more: number): Buffer {
  let size = old.length * 2
  while (size < used + more) size *= 2
  const buffer = Buffer.allocUnsafeSlow(size)
  buffer.set(old.subarray(0, used))
  return buffer
}
