import { badRequest, type Failure } from '../../../kernel/errors.ts'

/** The kinds of values of MessagePack. */
export const NIL = 0
export const BOOLEAN = 1
export const NUMBER = 2
export const TEXT = 3
export const BINARY = 4
export const EXTENSION = 5
export const ARRAY = 6
export const MAP = 7
export type MsgpackKind =
  | typeof NIL
  | typeof BOOLEAN
  | typeof NUMBER
  | typeof TEXT
  | typeof BINARY
  | typeof EXTENSION
  | typeof ARRAY
  | typeof MAP

const DEPTH_MAX = 100

/**
 * Reads MessagePack in place. It returns positions instead of values: texts stay bytes, since senders also put raw bytes into them, and
 * 64-bit integers keep their digits.
 */
export class MsgpackReader {
  readonly bytes: Buffer
  at: number
  end: number
  /** The kind of the value just read. */
  kind: MsgpackKind = NIL
  /** The position of the bytes of a text, binary or extension. */
  start = 0
  stop = 0
  /** The elements of an array, or the pairs of a map. */
  length = 0
  /** The number of an extension. */
  type = 0
  /** A number as text, and a boolean. */
  text = ''

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = start
    this.end = end
  }

  get isAtEnd(): boolean {
    return this.at >= this.end
  }

  /** Reads a value, of an array or map only its head. */
  next(): MsgpackKind {
    const byte = this.#take(1)
    const head = this.bytes[byte] ?? 0
    this.kind = this.#read(head)
    return this.kind
  }

  /** Skips the rest of the value whose head was read. */
  skipRest(): void {
    for (let left = this.#elements(); left > 0; left -= 1) {
      this.next()
      left += this.#elements()
    }
  }

  fail(reason: string): Failure {
    return badRequest(`not valid MessagePack: ${reason} at byte ${this.at}`)
  }

  #elements(): number {
    return this.kind === ARRAY ? this.length : this.kind === MAP ? this.length * 2 : 0
  }

  #take(count: number): number {
    const from = this.at
    if (from + count > this.end) throw this.fail('it ends within a value')
    this.at = from + count
    return from
  }

  #read(head: number): MsgpackKind {
    if (head <= 0x7f) return this.#number(String(head))
    if (head <= 0x8f) return this.#many(MAP, head & 0x0f)
    if (head <= 0x9f) return this.#many(ARRAY, head & 0x0f)
    if (head <= 0xbf) return this.#data(TEXT, head & 0x1f)
    if (head >= 0xe0) return this.#number(String(head - 0x100))
    const { bytes } = this
    switch (head) {
      case 0xc0:
        return NIL
      case 0xc2:
      case 0xc3:
        this.text = head === 0xc3 ? 'true' : 'false'
        return BOOLEAN
      case 0xc4:
      case 0xd9:
        return this.#data(head === 0xc4 ? BINARY : TEXT, bytes.readUInt8(this.#take(1)))
      case 0xc5:
      case 0xda:
        return this.#data(head === 0xc5 ? BINARY : TEXT, bytes.readUInt16BE(this.#take(2)))
      case 0xc6:
      case 0xdb:
        return this.#data(head === 0xc6 ? BINARY : TEXT, bytes.readUInt32BE(this.#take(4)))
      case 0xc7:
        return this.#extension(bytes.readUInt8(this.#take(1)))
      case 0xc8:
        return this.#extension(bytes.readUInt16BE(this.#take(2)))
      case 0xc9:
        return this.#extension(bytes.readUInt32BE(this.#take(4)))
      case 0xca:
        return this.#number(String(bytes.readFloatBE(this.#take(4))))
      case 0xcb:
        return this.#number(String(bytes.readDoubleBE(this.#take(8))))
      case 0xcc:
        return this.#number(String(bytes.readUInt8(this.#take(1))))
      case 0xcd:
        return this.#number(String(bytes.readUInt16BE(this.#take(2))))
      case 0xce:
        return this.#number(String(bytes.readUInt32BE(this.#take(4))))
      case 0xcf:
        return this.#number(String(bytes.readBigUInt64BE(this.#take(8))))
      case 0xd0:
        return this.#number(String(bytes.readInt8(this.#take(1))))
      case 0xd1:
        return this.#number(String(bytes.readInt16BE(this.#take(2))))
      case 0xd2:
        return this.#number(String(bytes.readInt32BE(this.#take(4))))
      case 0xd3:
        return this.#number(String(bytes.readBigInt64BE(this.#take(8))))
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (head - 0xd4))
      case 0xdc:
        return this.#many(ARRAY, bytes.readUInt16BE(this.#take(2)))
      case 0xdd:
        return this.#many(ARRAY, bytes.readUInt32BE(this.#take(4)))
      case 0xde:
        return this.#many(MAP, bytes.readUInt16BE(this.#take(2)))
      case 0xdf:
        return this.#many(MAP, bytes.readUInt32BE(this.#take(4)))
      default:
        throw this.fail('there is no such type')
    }
  }

  #number(text: string): MsgpackKind {
    this.text = text
    return NUMBER
  }

  #data(kind: MsgpackKind, length: number): MsgpackKind {
    this.start = this.#take(length)
    this.stop = this.at
    return kind
  }

  #extension(length: number): MsgpackKind {
    this.type = this.bytes.readInt8(this.#take(1))
    return this.#data(EXTENSION, length)
  }

  /** Each element takes at least a byte, so that a large count alone takes no memory. */
  #many(kind: MsgpackKind, length: number): MsgpackKind {
    if (length > this.end - this.at) throw this.fail('it ends within a list')
    this.length = length
    return kind
  }
}

/** Writes the value whose head was read as JSON. */
export function msgpackJson(reader: MsgpackReader, depth = 0): string {
  if (depth > DEPTH_MAX) throw reader.fail(`values are nested more than ${DEPTH_MAX} levels deep`)
  const { length } = reader
  switch (reader.kind) {
    case NIL:
      return 'null'
    case NUMBER:
      // These have no notation in JSON.
      return /^(?:NaN|-?Infinity)$/.test(reader.text) ? `"${reader.text}"` : reader.text
    case BOOLEAN:
      return reader.text
    case ARRAY: {
      const elements: string[] = []
      for (let left = length; left > 0; left -= 1) {
        reader.next()
        elements.push(msgpackJson(reader, depth + 1))
      }
      return `[${elements.join(',')}]`
    }
    case MAP: {
      const members: string[] = []
      for (let left = length; left > 0; left -= 1) {
        reader.next()
        const name = JSON.stringify(msgpackText(reader))
        reader.next()
        members.push(`${name}:${msgpackJson(reader, depth + 1)}`)
      }
      return `{${members.join(',')}}`
    }
    default:
      return JSON.stringify(msgpackText(reader))
  }
}

/** The value whose head was read as text; lists and maps as JSON. */
export function msgpackText(reader: MsgpackReader): string {
  switch (reader.kind) {
    case TEXT:
    case BINARY:
      return reader.bytes.toString('utf8', reader.start, reader.stop)
    case EXTENSION:
      return reader.bytes.toString('base64', reader.start, reader.stop)
    case NIL:
      return ''
    case ARRAY:
    case MAP:
      return msgpackJson(reader)
    default:
      return reader.text
  }
}
