import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import {
  type Attribute,
  EMPTY,
  type FieldSource,
  LIST,
  MAP,
  type Message,
  type OtlpBody,
  type OtlpValue,
  SCALAR,
  TEXT,
} from '../server/src/ingest/receivers/otlp/message.ts'
import type { Instant } from '../server/src/lines/time-text.ts'
import { cleanName } from '../server/src/lines/walk.ts'

const NS_PER_MS = 1_000_000n
const KEY = 1
const VALUE = 2
const STRING_VALUE = 1
const absent: OtlpValue = { kind: EMPTY, text: '' }

/** Reads OTLP with the reader of a library. It leaves out the limits and most checks of the server, and assumes valid input. */
export class LibrarySource implements FieldSource {
  readonly #reader: BinaryReader
  readonly #names = new Map<string, string>()
  #wire: WireType = WireType.Varint

  constructor(body: Uint8Array) {
    this.#reader = new BinaryReader(body)
  }

  fields<T>(type: Message<T>, target: T, end: number): void {
    while (this.#reader.pos < end) {
      const [field, wire] = this.#reader.tag()
      const read = type.byNumber[field]
      this.#wire = wire
      if (read) read(target, this)
      else this.#reader.skip(wire, field)
    }
  }

  message<T>(type: Message<T>, target: T): void {
    this.fields(type, target, this.#end())
  }

  record<T>(type: Message<T>, target: T): undefined {
    this.message(type, target)
  }

  instant(): Instant | undefined {
    const ns = BigInt(this.#reader.fixed64())
    return ns === 0n ? undefined : { ms: Number(ns / NS_PER_MS), ns: Number(ns % NS_PER_MS) }
  }

  text(): string {
    return this.#reader.string()
  }

  number(): number {
    return this.#wire === WireType.Bit32 ? this.#reader.fixed32() : this.#reader.uint32()
  }

  id(bytes: number): string {
    const id = this.#reader.bytes()
    if (id.length !== bytes || id.every((byte) => byte === 0)) return ''
    return Buffer.from(id.buffer, id.byteOffset, bytes).toString('hex')
  }

  body(): OtlpBody {
    const end = this.#end()
    const from = this.#reader.pos
    const [field] = this.#reader.tag()
    if (field === STRING_VALUE) return { kind: TEXT, bytes: this.#reader.bytes() }
    this.#reader.pos = from
    const { kind, text } = this.#value(end)
    return { kind, bytes: Buffer.from(text) }
  }

  attribute(): Attribute {
    const end = this.#end()
    let name = '_'
    let value = absent
    while (this.#reader.pos < end) {
      const [field, wire] = this.#reader.tag()
      if (field === KEY) name = this.#name(this.#reader.string())
      else if (field === VALUE) value = this.#value(this.#end())
      else this.#reader.skip(wire, field)
    }
    return { name, kind: value.kind, text: value.text }
  }

  #end(): number {
    return this.#reader.uint32() + this.#reader.pos
  }

  /** Cleans each name once. */
  #name(written: string): string {
    const known = this.#names.get(written)
    if (known !== undefined) return known
    const name = cleanName(written)
    this.#names.set(written, name)
    return name
  }

  #value(end: number): OtlpValue {
    let value = absent
    while (this.#reader.pos < end) {
      const [field, wire] = this.#reader.tag()
      value = this.#valueOf(field, wire, value)
    }
    return value
  }

  #valueOf(field: number, wire: WireType, before: OtlpValue): OtlpValue {
    const reader = this.#reader
    if (field === STRING_VALUE) return { kind: TEXT, text: reader.string() }
    if (field === 2) return { kind: SCALAR, text: String(reader.bool()) }
    if (field === 3) return { kind: SCALAR, text: String(reader.int64()) }
    if (field === 4) return doubleValue(reader.double())
    if (field === 5) return { kind: LIST, text: `[${this.#items(() => this.#json(this.#value(this.#end())))}]` }
    if (field === 6) return { kind: MAP, text: `{${this.#items(() => this.#pair())}}` }
    if (field === 7) return { kind: TEXT, text: Buffer.from(reader.bytes()).toString('base64') }
    reader.skip(wire, field)
    return before
  }

  #items(read: () => string): string {
    const end = this.#end()
    const items: string[] = []
    while (this.#reader.pos < end) {
      const [field, wire] = this.#reader.tag()
      if (field === 1) items.push(read())
      else this.#reader.skip(wire, field)
    }
    return items.join(',')
  }

  #pair(): string {
    const end = this.#end()
    let [key, value] = ['', absent]
    while (this.#reader.pos < end) {
      const [field, wire] = this.#reader.tag()
      if (field === KEY) key = this.#reader.string()
      else if (field === VALUE) value = this.#value(this.#end())
      else this.#reader.skip(wire, field)
    }
    return `${JSON.stringify(key)}:${this.#json(value)}`
  }

  #json({ kind, text }: OtlpValue): string {
    if (kind === EMPTY) return 'null'
    return kind === TEXT ? JSON.stringify(text) : text
  }
}

function doubleValue(double: number): OtlpValue {
  return { kind: Number.isFinite(double) ? SCALAR : TEXT, text: Object.is(double, -0) ? '-0' : String(double) }
}
