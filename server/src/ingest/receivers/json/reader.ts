import { badRequest, type Failure } from '../../../kernel/errors.ts'
import { hashStart, hashStep } from '../names.ts'
import { skipPlain } from './words.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
export const QUOTE = 0x22
const COMMA = 0x2c
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const LOWER_N = 0x6e
export const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const NO_BYTE = -1

/** Words and numbers consist of these bytes. NaN and the infinities are not standard JSON, but some writers send them. */
const SCALAR_CHARS = '+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const isScalarByte = new Uint8Array(256)
/** True for the first byte of a value that `scalar` reads, other than null. */
export const startsScalar = (byte: number): boolean => byte !== LOWER_N && isScalarByte[byte] === 1
for (const char of SCALAR_CHARS) isScalarByte[char.charCodeAt(0)] = 1
const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity)$/

/**
 * Reads JSON in place. It returns positions instead of values, so that numbers keep their notation and raw bytes stay unchanged. It never
 * recurses; skipping a value costs one byte per level of depth.
 */
export class JsonReader {
  readonly bytes: Uint8Array
  at: number
  end: number
  /** The position of the last value or key, without its quotes; `escaped` is true when it contains a backslash. */
  start = 0
  stop = 0
  escaped = false
  /** The hash of the last key. */
  hash = 0
  #view: DataView | undefined
  /** Set between an opening bracket and the first member, where no comma is expected. */
  #fresh = false

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = start
    this.end = end
  }

  /** The bytes as words. */
  get view(): DataView {
    const { bytes } = this
    this.#view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return this.#view
  }

  /** Continues with another part of the bytes. */
  moveTo(start: number, end: number): void {
    this.at = start
    this.end = end
    this.#fresh = false
  }

  /** Continues at a place inside an object, after a key or a value that the caller recognized. */
  goTo(at: number): void {
    this.at = at
    this.#fresh = false
  }

  /** The next byte, -1 at the end. */
  peek(): number {
    const { bytes, end } = this
    for (let { at } = this; at < end; at += 1) {
      const byte = bytes[at] as number
      if (byte > SPACE || (byte !== SPACE && byte !== TAB && byte !== LINE_FEED && byte !== CARRIAGE_RETURN)) {
        this.at = at
        return byte
      }
    }
    this.at = Math.max(this.at, end)
    return NO_BYTE
  }

  /** True when null comes next. */
  isNull(): boolean {
    return this.peek() === LOWER_N
  }

  openObject(): void {
    this.#take(OPEN_OBJECT, 'an object')
    this.#fresh = true
  }

  openArray(): void {
    this.#take(OPEN_ARRAY, 'an array')
    this.#fresh = true
  }

  /**
   * Reads the records of a body: an array of them, or records one after another, with or without commas between. `readOther` reads an element of an
   * array that is no object.
   */
  records(read: () => void, readOther = read): void {
    for (let byte = this.peek(); byte >= 0; byte = this.peek()) {
      if (byte !== OPEN_ARRAY) read()
      else {
        this.openArray()
        while (this.element()) {
          const first = this.peek()
          if (first === OPEN_OBJECT || first === NO_BYTE) read()
          else readOther()
        }
      }
      if (this.peek() === COMMA) this.at += 1
    }
  }

  /** Reads the next key of the open object, up to its value; false at the object's end, which it consumes. */
  key(): boolean {
    if (this.#close(CLOSE_OBJECT)) return false
    this.#take(QUOTE, 'a key')
    const { bytes, end } = this
    let { at } = this
    let escaped = false
    let hash = hashStart
    this.start = at
    for (; ; at += 1) {
      if (at >= end) throw this.#failAt(at, 'a key does not end')
      const byte = bytes[at] as number
      if (byte === QUOTE) break
      hash = hashStep(hash, byte)
      if (byte !== BACKSLASH) continue
      escaped = true
      at += 1
      hash = hashStep(hash, bytes[at] ?? NO_BYTE)
    }
    this.escaped = escaped
    this.hash = hash
    this.stop = at
    this.at = at + 1
    this.#take(COLON, 'a colon')
    return true
  }

  /** Opens the array of a member whose key was read last, which is false for null; any other value is refused with the name of the member. */
  openList(): boolean {
    const [from, to] = [this.start, this.stop]
    if (this.isNull()) {
      this.scalar()
      return false
    }
    if (this.peek() === OPEN_ARRAY) {
      this.openArray()
      return true
    }
    const { bytes } = this
    throw this.fail(`${Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8')} is not an array`)
  }

  /** Goes to the next element of the open array; false at the array's end, which it consumes. */
  element(): boolean {
    return !this.#close(CLOSE_ARRAY)
  }

  /** Reads a string: its position, and whether it is escaped. */
  string(): void {
    this.#take(QUOTE, 'a text')
    this.stringAt(this.at)
  }

  /** Reads a string after its first quote. */
  stringAt(start: number): void {
    const { bytes, end } = this
    let at = skipPlain(this.view, start, end)
    let escaped = false
    for (; at < end; at += 1) {
      const byte = bytes[at] as number
      if (byte === QUOTE) break
      if (byte !== BACKSLASH) continue
      escaped = true
      at += 1
    }
    if (at >= end) throw this.#failAt(at, 'a text does not end')
    this.start = start
    this.escaped = escaped
    this.stop = at
    this.at = at + 1
    this.#fresh = false
  }

  /** Reads a number or a word. */
  scalar(): void {
    this.peek()
    const { bytes, end, at: start } = this
    let at = digitsEnd(bytes, start, end)
    // Numbers with a fraction are common too. Signs, exponents and words go to the pattern.
    if (at > start && at < end && bytes[at] === POINT) {
      const fraction = digitsEnd(bytes, at + 1, end)
      if (fraction > at + 1) at = fraction
    }
    const isNumber = at > start && (at === end || isScalarByte[bytes[at] as number] === 0)
    while (at < end && isScalarByte[bytes[at] as number] === 1) at += 1
    this.start = start
    this.escaped = false
    this.stop = at
    this.at = at
    if (!isNumber && !this.#isScalar()) throw this.fail('there is no value')
  }

  /** Skips a value of any kind and depth. `start` and `stop` are its position, with its quotes or brackets. */
  skip(): void {
    const first = this.peek()
    const start = this.at
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) this.#skipBrackets()
    else if (first === QUOTE) this.string()
    else this.scalar()
    this.start = start
    this.stop = this.at
    this.#fresh = false
  }

  /** Checks that nothing follows. */
  finish(): void {
    if (this.peek() !== NO_BYTE) throw this.fail('something follows the end')
  }

  fail(reason: string): Failure {
    return badRequest(`not valid JSON: ${reason} at byte ${this.at}`)
  }

  #failAt(at: number, reason: string): Failure {
    this.at = at
    return this.fail(reason)
  }

  #take(byte: number, what: string): void {
    if (this.peek() !== byte) throw this.fail(`${what} is missing`)
    this.at += 1
  }

  #close(bracket: number): boolean {
    const byte = this.peek()
    const fresh = this.#fresh
    this.#fresh = false
    if (byte === bracket) {
      this.at += 1
      return true
    }
    if (fresh) return false
    if (byte !== COMMA) throw this.fail('a comma is missing')
    this.at += 1
    return false
  }

  #isScalar(): boolean {
    const { bytes, start, stop } = this
    return SCALAR.test(Buffer.from(bytes.buffer, bytes.byteOffset + start, stop - start).toString('latin1'))
  }

  /** Remembers the kind of each open bracket. */
  #skipBrackets(): void {
    let open = new Uint8Array(64)
    let depth = 0
    do {
      const byte = this.peek()
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.at += 1
        if (depth === open.length) open = grown(open)
        open[depth] = byte
        depth += 1
        this.#fresh = true
      } else if (byte === QUOTE) this.string()
      else this.scalar()
      while (depth > 0 && !(open[depth - 1] === OPEN_OBJECT ? this.key() : this.element())) depth -= 1
    } while (depth > 0)
  }
}

function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at += 1
  return at
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2)
  larger.set(bytes)
  return larger
}
