import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { UnreadableRecord } from './message.ts'

/** Goes from field to field of a message in place. The library reads the wire format; this class holds each read within `end`. */
export class ProtobufReader {
  readonly bytes: Uint8Array
  readonly #wire: BinaryReader
  end: number
  field = 0
  wire: WireType = WireType.Varint

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#wire = new BinaryReader(bytes)
    this.end = bytes.length
  }

  get at(): number {
    return this.#wire.pos
  }

  set at(position: number) {
    this.#wire.pos = position
  }

  /** Reads the number and wire type of the next field; false at the end of the message. */
  next(): boolean {
    if (this.#wire.pos >= this.end) return false
    try {
      const [field, wire] = this.#wire.tag()
      this.field = field
      this.wire = wire
    } catch (thrown) {
      throw unreadable(thrown)
    }
    this.#check()
    return true
  }

  uint32(): number {
    try {
      return this.#checked(this.#wire.uint32())
    } catch (thrown) {
      throw unreadable(thrown)
    }
  }

  /** A signed integer, in digits. */
  integer(): string {
    try {
      return this.#checked(String(this.#wire.int64()))
    } catch (thrown) {
      throw unreadable(thrown)
    }
  }

  /** A signed integer as a number. */
  whole(): number {
    try {
      return this.#checked(Number(this.#wire.int64()))
    } catch (thrown) {
      throw unreadable(thrown)
    }
  }

  bool(): boolean {
    try {
      return this.#checked(this.#wire.bool())
    } catch (thrown) {
      throw unreadable(thrown)
    }
  }

  /** Half of a fixed64, or a fixed32. */
  fixed32(): number {
    this.#need(4)
    return this.#wire.fixed32()
  }

  double(): number {
    this.#need(8)
    return this.#wire.double()
  }

  /** Reads the length of the field and returns its end. The field begins at the reader's position. */
  length(): number {
    const length = this.uint32()
    this.#need(length)
    return this.#wire.pos + length
  }

  /** Skips the value of a field. */
  skip(): void {
    if (this.wire === WireType.EndGroup) throw new UnreadableRecord(`there is no wire type ${this.wire} here`)
    try {
      this.#wire.skip(this.wire, this.field)
    } catch (thrown) {
      throw unreadable(thrown)
    }
    this.#check()
  }

  #need(bytes: number): void {
    if (this.end - this.#wire.pos < bytes) throw cut()
  }

  #checked<T>(value: T): T {
    this.#check()
    return value
  }

  #check(): void {
    if (this.#wire.pos > this.end) throw cut()
  }
}

const cut = (): UnreadableRecord => new UnreadableRecord('a field ends beyond its message')

/** The library throws a RangeError at the end of the buffer and an Error for what is not protobuf. */
function unreadable(thrown: unknown): UnreadableRecord {
  if (thrown instanceof UnreadableRecord) return thrown
  return thrown instanceof RangeError ? cut() : new UnreadableRecord(thrown instanceof Error ? thrown.message : 'unknown error')
}
