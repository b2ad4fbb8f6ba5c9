import { badRequest, type Failure } from '../../../kernel/errors.ts'
import { hashStart, hashStep } from '../names.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
export const QUOTE = 0x22
const COMMA = 0x2c
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
for (const char of SCALAR_CHARS) isScalarByte[char.charCodeAt(0)] = 1
const SCALAR = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity)$/
const WHOLE_DIGITS_MAX = 15

/**
 * Reads JSON in place. It returns positions instead of values, so that numbers keep their notation and raw bytes stay unchanged. It never
 * recurses; skipping a value costs one byte per level of depth.
 */
export class JsonReader {
  readonly bytes: Uint8Array
  at: number
  readonly end: number
  /** The position of the last value or key, without its quotes; `escaped` is true when it contains a backslash. */
  start = 0
  stop = 0
  escaped = false
  /** The hash of the last key. */
  hash = 0
  /** Set between an opening bracket and the first member, where no comma is expected. */
  #fresh = false

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.at = start
    this.end = end
  }

  /** The next byte, -1 at the end. */
  peek(): number {
    while (this.at < this.end) {
      const byte = this.bytes[this.at] ?? NO_BYTE
      if (byte !== SPACE && byte !== TAB && byte !== LINE_FEED && byte !== CARRIAGE_RETURN) return byte
      this.at += 1
    }
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

  /** Reads the next key of the open object, up to its value; false at the object's end, which it consumes. */
  key(): boolean {
    if (this.#close(CLOSE_OBJECT)) return false
    this.#take(QUOTE, 'a key')
    this.start = this.at
    this.escaped = false
    let hash = hashStart
    for (; ; this.at += 1) {
      if (this.at >= this.end) throw this.fail('a key does not end')
      const byte = this.bytes[this.at] ?? NO_BYTE
      if (byte === QUOTE) break
      hash = hashStep(hash, byte)
      if (byte !== BACKSLASH) continue
      this.escaped = true
      this.at += 1
      hash = hashStep(hash, this.bytes[this.at] ?? NO_BYTE)
    }
    this.hash = hash
    this.stop = this.at
    this.at += 1
    this.#take(COLON, 'a colon')
    return true
  }

  /** Goes to the next element of the open array; false at the array's end, which it consumes. */
  element(): boolean {
    return !this.#close(CLOSE_ARRAY)
  }

  /** Reads a string: its position, and whether it is escaped. */
  string(): void {
    this.#take(QUOTE, 'a text')
    this.start = this.at
    this.escaped = false
    for (; ; this.at += 1) {
      if (this.at >= this.end) throw this.fail('a text does not end')
      const byte = this.bytes[this.at]
      if (byte === QUOTE) break
      if (byte !== BACKSLASH) continue
      this.escaped = true
      this.at += 1
    }
    this.stop = this.at
    this.at += 1
  }

  /** Reads a number or a word. */
  scalar(): void {
    this.peek()
    this.start = this.at
    this.escaped = false
    while (this.at < this.end && isScalarByte[this.bytes[this.at] ?? 0] === 1) this.at += 1
    this.stop = this.at
    if (!this.#isScalar()) throw this.fail('there is no value')
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
    if (stop - start <= WHOLE_DIGITS_MAX) {
      let at = start
      while (at < stop && (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39) at += 1
      if (at === stop && stop > start) return true
    }
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

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2)
  larger.set(bytes)
  return larger
}
