import { UnreadableRecord } from './message.ts'

/** The wire types of protobuf. */
export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const GROUP = 3
export const GROUP_END = 4
export const FIXED32 = 5

const TWO_TO_32 = 2 ** 32
/** Integers up to here are exact as numbers. */
const EXACT_HIGH_MAX = 2 ** 20

/** A ProtobufReader goes from field to field of a message in place. Nothing it reads lies beyond `end`. */
export class ProtobufReader {
  readonly bytes: Uint8Array
  readonly #view: DataView
  at: number
  end: number
  field = 0
  wire = 0
  /** low and high are the halves of the last number, both without a sign. */
  low = 0
  high = 0

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = at
    this.end = end
  }

  /** next reads the number and wire type of the next field; false at the end of the message. */
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

  /** length reads how long the field is, and gives the place of its end; the field begins where the reader stands. */
  length(): number {
    this.varint()
    if (this.high !== 0 || this.low > this.end - this.at) throw cut()
    return this.at + this.low
  }

  /** skip reads over the value of a field. */
  skip(): void {
    if (this.wire === VARINT) this.varint()
    else if (this.wire === FIXED64) this.#move(8)
    else if (this.wire === BYTES) this.at = this.length()
    else if (this.wire === FIXED32) this.#move(4)
    else if (this.wire === GROUP) this.#skipGroup()
    else throw new UnreadableRecord(`there is no wire type ${this.wire} here`)
  }

  /** integer is the last number with a sign, in digits. */
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

  /** #skipGroup counts how many groups are open; which of them an end belongs to changes nothing. */
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
