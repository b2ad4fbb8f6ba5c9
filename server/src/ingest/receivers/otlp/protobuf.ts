import { WireType } from '@bufbuild/protobuf/wire'
import { badRequest } from '../../../kernel/errors.ts'
import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import type { Instant } from '../../../lines/values/time-text.ts'
import { BodyText } from '../body-text.ts'
import { hashOf, KeyNames } from '../names.ts'
import {
  type Attribute,
  EMPTY,
  type FieldSource,
  type Message,
  type OtlpBody,
  type OtlpValue,
  TEXT,
  UnreadableRecord,
  ValueBudget,
} from './message.ts'
import { ProtobufLog } from './protobuf-log.ts'
import { ProtobufReader } from './protobuf-reader.ts'
import { ProtobufValue, STRING_VALUE } from './protobuf-value.ts'

const KEY = 1
const VALUE = 2
const NS_PER_MS = 1_000_000
const TWO_TO_32 = 2 ** 32

/** Replaces an empty key. */
const UNNAMED = '_'
const absent: OtlpValue = { kind: EMPTY, text: '' }

/** Reads a body into target. Anything else is a Failure. */
export function readProtobuf<T>(body: Uint8Array, type: Message<T>, target: T): void {
  try {
    new ProtobufSource(body).fields(type, target, body.length)
  } catch (thrown) {
    if (!(thrown instanceof UnreadableRecord)) throw thrown
    throw badRequest(`not valid protobuf: ${thrown.message}`, { cause: thrown })
  }
}

class ProtobufSource implements FieldSource {
  readonly #reader: ProtobufReader
  readonly #value: ProtobufValue
  readonly #text: BodyText
  readonly #names: KeyNames<undefined>
  readonly #allowance = new ValueBudget()
  readonly #logs: ProtobufLog

  constructor(body: Uint8Array) {
    this.#reader = new ProtobufReader(body)
    this.#text = new BodyText(body)
    this.#value = new ProtobufValue(this.#reader, this.#text, this.#allowance)
    this.#names = new KeyNames(body, this.#text, () => undefined)
    this.#logs = new ProtobufLog(body, this.#names, this.#allowance)
  }

  /** Reads the message that ends at `end`. Its recursion is bounded by the nesting of the message types, not by the body. */
  fields<T>(type: Message<T>, target: T, end: number): void {
    const reader = this.#reader
    const outer = reader.end
    reader.end = end
    while (reader.next()) {
      const read = type.byNumber[reader.field]
      if (read === undefined) reader.skip()
      else read(target, this)
    }
    reader.end = outer
  }

  message<T>(type: Message<T>, target: T): void {
    this.#allowance.spend()
    this.fields(type, target, this.#length())
  }

  record<T>(type: Message<T>, target: T): string | undefined {
    const outer = this.#reader.end
    const end = this.#length()
    try {
      this.fields(type, target, end)
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof UnreadableRecord)) throw thrown
      this.#reader.at = end
      this.#reader.end = outer
      return thrown.message
    }
  }

  log(draft: RecordDraft): boolean {
    const reader = this.#reader
    const from = reader.at
    const end = this.#length()
    const isRead = this.#logs.read(reader.at, end, draft)
    reader.at = isRead ? end : from
    return isRead
  }

  instant(): Instant | undefined {
    const reader = this.#reader
    this.#expect(WireType.Bit64)
    const low = reader.fixed32()
    const high = reader.fixed32()
    if (low === 0 && high === 0) return undefined
    // Long division by halves: each step stays below 2^53.
    const rest = (high % NS_PER_MS) * TWO_TO_32 + low
    return { ms: Math.floor(high / NS_PER_MS) * TWO_TO_32 + Math.floor(rest / NS_PER_MS), ns: rest % NS_PER_MS }
  }

  text(): string {
    const end = this.#length()
    const text = this.#text.text(this.#reader.at, end)
    this.#reader.at = end
    return text
  }

  number(): number {
    const reader = this.#reader
    if (reader.wire === WireType.Bit32) return reader.fixed32()
    this.#expect(WireType.Varint)
    return reader.uint32()
  }

  id(bytes: number): string {
    const end = this.#length()
    const id = this.#reader.bytes.subarray(this.#reader.at, end)
    this.#reader.at = end
    if (id.length !== bytes || id.every((byte) => byte === 0)) return ''
    return Buffer.from(id.buffer, id.byteOffset, bytes).toString('hex')
  }

  body(): OtlpBody {
    const end = this.#length()
    const from = this.#reader.at
    const field = this.#value.find(end)
    if (field === STRING_VALUE) return { kind: TEXT, bytes: this.#reader.bytes.subarray(this.#value.start, this.#value.stop) }
    this.#reader.at = from
    const { kind, text } = this.#value.read(end)
    return { kind, bytes: Buffer.from(text) }
  }

  attribute(): Attribute {
    const reader = this.#reader
    const outer = reader.end
    reader.end = this.#length()
    this.#allowance.spend()
    let name = UNNAMED
    let value = absent
    while (reader.next()) {
      if (reader.field === KEY) {
        const end = this.#length()
        name = this.#names.of(undefined, reader.at, end, hashOf(reader.bytes, reader.at, end), false).path
        reader.at = end
      } else if (reader.field === VALUE) value = this.#value.read(this.#length())
      else reader.skip()
    }
    reader.end = outer
    return { name, kind: value.kind, text: value.text }
  }

  #length(): number {
    this.#expect(WireType.LengthDelimited)
    return this.#reader.length()
  }

  #expect(wire: WireType): void {
    if (this.#reader.wire !== wire) throw new UnreadableRecord(`field ${this.#reader.field} has the wrong wire type`)
  }
}
