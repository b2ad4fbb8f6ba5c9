import { UnreadableRecord } from './message.ts'

/** The wire types of protobuf. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const GROUP = 3
export const GROUP_END = 4
export const FIXED32 = 5

const TWO_TO_32 = 2 ** 32
/** Up to this high half, integers are exact as numbers. */
const EXACT_HIGH_MAX = 2 ** 20

/** Goes from field to field of a message in place. It reads nothing beyond `end`. */
export class ProtobufReader {
  readonly bytes: Uint8Array
  readonly #view: DataView
  at: number
  end: number
  field = 0
  wire = 0
  /** The unsigned halves of the last number. */
  low = 0
  high = 0

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = at
    this.end = end
  }

  /** Reads the number and wire type of the next field; false at the end of the message. */
  next(): boolean {
    if (this.at >= this.end) return false
    this.varint()
    this.wire = this.low & 7
    this.field = this.low >>> 3
    if (this.field === 0 || this.high !== 0) throw new UnreadableRecord('a field has no number')
    return true
  }

  varint(): void {
    this.low = 0
    this.high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= this.end) throw cut()
      const byte = this.bytes[this.at] ?? 0
      this.at += 1
      const bits = byte & 0x7f
      if (shift < 28) this.low |= bits << shift
      else if (shift === 28) {
        this.low |= bits << 28
        this.high = bits >>> 4
      } else this.high |= bits << (shift - 32)
      if (byte > 0x7f) continue
      this.low >>>= 0
      this.high >>>= 0
      return
    }
    throw new UnreadableRecord('a number is longer than ten bytes')
  }

  fixed64(): void {
    this.#move(8)
    this.low = this.#view.getUint32(this.at - 8, true)
    this.high = this.#view.getUint32(this.at - 4, true)
  }

  fixed32(): void {
    this.#move(4)
    this.low = this.#view.getUint32(this.at - 4, true)
    this.high = 0
  }

  /** Reads the length of the field and returns its end. The field begins at the reader's position. */
  length(): number {
    this.varint()
    if (this.high !== 0 || this.low > this.end - this.at) throw cut()
    return this.at + this.low
  }

  /** Skips the value of a field. */
  skip(): void {
    if (this.wire === VARINT) this.varint()
    else if (this.wire === FIXED64) this.#move(8)
    else if (this.wire === BYTES) this.at = this.length()
    else if (this.wire === FIXED32) this.#move(4)
    else if (this.wire === GROUP) this.#skipGroup()
    else throw new UnreadableRecord(`there is no wire type ${this.wire} here`)
  }

  /** The last number as a signed integer, in digits. */
  integer(): string {
    const high = this.high | 0
    if (high < EXACT_HIGH_MAX && high > -EXACT_HIGH_MAX) return String(high * TWO_TO_32 + this.low)
    return ((BigInt(high) << 32n) | BigInt(this.low)).toString()
  }

  double(): number {
    this.#move(8)
    return this.#view.getFloat64(this.at - 8, true)
  }

  #move(bytes: number): void {
    if (this.end - this.at < bytes) throw cut()
    this.at += bytes
  }

  /** Counts open groups; it does not matter which of them an end belongs to. */
  #skipGroup(): void {
    for (let open = 1; open > 0; ) {
      if (!this.next()) throw cut()
      if (this.wire === GROUP) open += 1
      else if (this.wire === GROUP_END) open -= 1
      else this.skip()
    }
  }
}

const cut = (): UnreadableRecord => new UnreadableRecord('a field ends beyond its message')
