import { decodeText, encodings } from './leaf-text.ts'
import {
  ARRAY,
  BACKSLASH,
  BROKEN,
  byteClass,
  END,
  endOfBrackets,
  endOfText,
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

/** VALUES_MAX is how many values a line may have, nulls included, to be matched at all. */
export const VALUES_MAX = 2_048
const TRANSITIONS_MAX = 16_384
const LITERAL_BYTES_MAX = 4 * 2 ** 20
const FIRST_TRANSITIONS = 64
const NONE = -1
/** UNUSUAL is a line that is left to the reference. */
const UNUSUAL = -2
const START = 0
/** shortEscapes are the bytes that the letters behind a backslash stand for, 0 for all others. */
const shortEscapes = makeShortEscapes()

function makeShortEscapes(): Uint8Array {
  const bytes = new Uint8Array(256)
  for (const [letter, char] of Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' })) {
    bytes[letter.charCodeAt(0)] = char.charCodeAt(0)
  }
  return bytes
}

/** HASHED_BYTES_MAX is how far a literal is hashed; keys with a longer beginning in common are told apart one by one. */
const HASHED_BYTES_MAX = 96

/** A Transition leads from one value of a line to the next: the key, what stands before the value, and the kind of value. */
export type Transition = {
  readonly kind: WalkStep
  readonly path: string
  readonly literal: string
  /** The prefixes of the objects around the value, and the prefix of the object in which the literal begins. */
  readonly prefixes: readonly string[]
  readonly before: string | undefined
}

/**
 * A Matcher finds the values of lines by what it has learned from lines before: after a value it expects the literal that followed it last time,
 * compares, and runs to the end of the next value. What it has not seen, it learns from a Walk, so that it finds exactly what a Walk finds.
 *
 * A state is the list of open objects alone, so that a key that is now there and now missing adds one transition, not a new chain.
 */
export class LineMatcher {
  /** What follows describes the last matched line: its values in order, END last. */
  count = 0
  /** symbols name transition and encoding of each value; two lines with the same symbols have the same shape. */
  readonly symbols = new Int32Array(VALUES_MAX)
  readonly starts = new Int32Array(VALUES_MAX)
  readonly ends = new Int32Array(VALUES_MAX)
  /** A value with escapes lies decoded in scratch, others in the line itself; its start is then counted from -1 downwards. */
  scratch: Buffer = Buffer.allocUnsafeSlow(4_096)
  symbolHash = 0
  private scratchUsed = 0

  private literals: Buffer = Buffer.allocUnsafeSlow(4_096)
  private literalView = viewOf(this.literals)
  /** view reads four bytes at once of the memory that the line lies in; lineBase is where in it the line's bytes begin. */
  private view = this.literalView
  private lineBase = 0
  private literalsUsed = 0
  private size = 0
  private literalAt = new Int32Array(FIRST_TRANSITIONS)
  private literalLength = new Int32Array(FIRST_TRANSITIONS)
  private kind = new Uint8Array(FIRST_TRANSITIONS)
  private from = new Int32Array(FIRST_TRANSITIONS)
  private to = new Int32Array(FIRST_TRANSITIONS)
  /** likely is the transition that followed last time. */
  private likely = new Int32Array(FIRST_TRANSITIONS)
  /** sibling is the next transition of the same bucket. */
  private sibling = new Int32Array(FIRST_TRANSITIONS)
  private buckets = new Int32Array(FIRST_TRANSITIONS * 2).fill(NONE)
  private readonly known: Transition[] = []
  private readonly contexts: (readonly string[])[] = [[]]
  private readonly contextNumbers = new Map<string, number>([['[]', 0]])

  constructor() {
    // The first transition leads to the beginning of a line; no line takes it.
    this.put({ kind: BROKEN, path: '', literal: '', prefixes: [], before: undefined }, Buffer.alloc(0), 0, 0)
  }

  /** full says that the matcher has learned as much as it may: the lines are of ever new kinds, and it is time for a new one. */
  get full(): boolean {
    return this.size >= TRANSITIONS_MAX || this.literalsUsed >= LITERAL_BYTES_MAX
  }

  transition(symbol: number): Transition {
    const found = this.known[symbol >> 2]
    if (!found) throw new Error('a symbol names no transition')
    return found
  }

  /** match finds the values of a line; false for a line that only the reference can split. */
  match(bytes: Uint8Array, start: number, end: number): boolean {
    const { symbols } = this
    let last = START
    let at = start
    let count = 0
    let hash = 0
    this.look(bytes)
    this.scratchUsed = 0
    do {
      if (count === VALUES_MAX) return false
      let taken = this.likely[last] as number
      let next = taken === NONE ? NONE : this.follow(taken, bytes, at, end, count)
      if (next === NONE) {
        taken = this.find(this.to[last] as number, bytes, at, end, count)
        if (taken === NONE) return false
        this.likely[last] = taken
        next = this.follow(taken, bytes, at, end, count)
      }
      if (next < 0) return false
      hash = Math.imul(hash ^ (symbols[count] as number), 0x9e3779b1)
      hash ^= hash >>> 15
      at = next
      last = taken
      count += 1
    } while (this.kind[last] !== END)
    this.count = count
    this.symbolHash = hash
    return true
  }

  private look(bytes: Uint8Array): void {
    if (this.view.buffer !== bytes.buffer) this.view = new DataView(bytes.buffer)
    this.lineBase = bytes.byteOffset
  }

  /** follow tries one transition: it gives the place after its value, NONE when it does not fit, UNUSUAL when the line is. */
  private follow(transition: number, bytes: Uint8Array, start: number, end: number, value: number): number {
    const length = this.literalLength[transition] as number
    const at = start + length
    if (at > end || !this.isLiteral(transition, bytes, start, length)) return NONE
    this.symbols[value] = transition << 2
    this.starts[value] = at
    const kind = this.kind[transition] as WalkStep
    if (kind === STRING) return this.endOfString(bytes, at, end, transition, value)
    if (kind === SCALAR) {
      let stop = at
      while (stop < end && byteClass[bytes[stop] as number] === SCALAR_BYTE) stop += 1
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
    if (at === end) return UNUSUAL
    const byte = bytes[at]
    if (byte === QUOTE) {
      this.ends[value] = at
      return at + 1
    }
    return byte === BACKSLASH ? this.endOfEscaped(bytes, start, at, end, transition, value) : UNUSUAL
  }

  /** endOfEscaped decodes a text with escapes into scratch; the short escapes are the same in all encodings. */
  private endOfEscaped(bytes: Uint8Array, start: number, firstEscape: number, end: number, transition: number, value: number): number {
    const from = this.scratchUsed
    // A decoded text is never longer than its source.
    if (from + end - start > this.scratch.length) this.scratch = grown(this.scratch, from, end - start)
    const { scratch } = this
    let used = from
    for (let at = start; at < firstEscape; at += 1) scratch[used++] = bytes[at] as number
    for (let at = firstEscape; at < end; at += 1) {
      const byte = bytes[at] as number
      if (byteClass[byte] !== SPECIAL) {
        scratch[used++] = byte
      } else if (byte === QUOTE) {
        this.endScratch(value, from, used)
        return at + 1
      } else if (byte === BACKSLASH && at + 1 < end) {
        at += 1
        const decoded = shortEscapes[bytes[at] as number] as number
        if (decoded === 0) return this.endOfEncoded(bytes, start, end, transition, value)
        scratch[used++] = decoded
      } else return UNUSUAL
    }
    return UNUSUAL
  }

  /** endOfEncoded decodes a text that has other escapes as well; which they are tells its encoding. */
  private endOfEncoded(bytes: Uint8Array, start: number, end: number, transition: number, value: number): number {
    const close = endOfText(bytes, start, end)
    if (close < 0) return UNUSUAL
    const { text, encoding } = decodeText(Buffer.from(bytes.buffer, bytes.byteOffset + start, close - start).toString('utf8'))
    if (encoding === undefined) return UNUSUAL
    this.symbols[value] = (transition << 2) | encodings.indexOf(encoding)
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
    if (stop < 0) return UNUSUAL
    for (let at = start; at < stop; at += 1) if (bytes[at] === 0) return UNUSUAL
    this.ends[value] = stop
    return stop
  }

  /** find looks among all transitions of a context, and learns the one that is wanted when it is not there. */
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

  /** bucketOf hashes what tells most literals apart: all up to the end of the first name. */
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
