import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import type { Instant } from '../../../lines/values/time-text.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { unescapeBytes } from '../json/unescape.ts'
import { hashOf, KeyNames } from '../names.ts'
import { JsonLog } from './json-log.ts'
import { isNext, JsonValue } from './json-value.ts'
import {
  type Attribute,
  EMPTY,
  type FieldSource,
  type Message,
  nanoInstant,
  type OtlpBody,
  type OtlpValue,
  TEXT,
  UnreadableRecord,
  ValueBudget,
} from './message.ts'

const DIGITS = /^\d{1,20}$/
const HEX = /^[0-9a-f]+$/
const ZEROS = /^0+$/
const UNNAMED = '_'

const absent: OtlpValue = { kind: EMPTY, text: '' }

/** Reads a body into target. Anything else is a Failure. */
export function readJson<T>(body: Uint8Array, type: Message<T>, target: T): void {
  const reader = new JsonReader(body)
  try {
    if (!isNext(reader, OPEN_OBJECT)) throw reader.fail('an object is missing')
    new JsonSource(reader).fields(type, target)
    reader.finish()
  } catch (thrown) {
    if (!(thrown instanceof UnreadableRecord)) throw thrown
    throw reader.fail(thrown.message)
  }
}

/** Reads OpenTelemetry's JSON mapping: ids as hex, enumerations as numbers, large numbers as texts or numbers. */
class JsonSource implements FieldSource {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #value: JsonValue
  readonly #names: KeyNames<undefined>
  readonly #allowance = new ValueBudget()
  readonly #logs: JsonLog

  constructor(reader: JsonReader) {
    this.#reader = reader
    this.#text = new BodyText(reader.bytes)
    this.#names = new KeyNames(reader.bytes, this.#text, () => undefined)
    this.#value = new JsonValue(reader, this.#text, this.#names, this.#allowance)
    this.#logs = new JsonLog(reader, this.#text, this.#names, this.#allowance)
  }

  message<T>(type: Message<T>, target: T): void {
    this.#allowance.spend()
    this.fields(type, target)
  }

  /** Reads an object. Its recursion is bounded by the nesting of the message types, not by the body. */
  fields<T>(type: Message<T>, target: T): void {
    const reader = this.#reader
    if (!isNext(reader, OPEN_OBJECT)) throw new UnreadableRecord('expected an object, found another value')
    reader.openObject()
    while (reader.key()) {
      const read = type.byName.get(this.#value.name())
      if (read === undefined || reader.isNull()) reader.skip()
      else if (!isNext(reader, OPEN_ARRAY)) read(target, this)
      else {
        reader.openArray()
        while (reader.element()) {
          if (reader.isNull()) reader.skip()
          else read(target, this)
        }
      }
    }
  }

  log(draft: RecordDraft): boolean {
    return this.#logs.read(draft)
  }

  record<T>(type: Message<T>, target: T): string | undefined {
    this.#reader.peek()
    const { at } = this.#reader
    try {
      this.fields(type, target)
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof UnreadableRecord)) throw thrown
      this.#reader.at = at
      this.#reader.skip()
      return thrown.message
    }
  }

  instant(): Instant | undefined {
    const text = this.#value.text()
    if (DIGITS.test(text)) return nanoInstant(text)
    // Some writers only have floats, so their numbers are rounded already.
    const number = Number(text)
    return number >= 1 && number < Number.MAX_VALUE ? nanoInstant(BigInt(Math.trunc(number)).toString().slice(-DIGITS_MAX)) : undefined
  }

  text(): string {
    return this.#value.text()
  }

  number(): number {
    const number = Number(this.#value.text())
    return Number.isSafeInteger(number) && number > 0 ? number : 0
  }

  id(bytes: number): string {
    const id = this.#value.text().toLowerCase()
    return id.length === bytes * 2 && HEX.test(id) && !ZEROS.test(id) ? id : ''
  }

  body(): OtlpBody {
    const reader = this.#reader
    const member = this.#value.find()
    if (member === undefined) return { kind: EMPTY, bytes: new Uint8Array() }
    const body = member === 'stringValue' && isNext(reader, QUOTE) ? this.#textBody() : this.#otherBody(member)
    this.#value.close()
    return body
  }

  #textBody(): OtlpBody {
    const reader = this.#reader
    reader.string()
    return { kind: TEXT, bytes: unescapeBytes(reader.bytes.subarray(reader.start, reader.stop)) }
  }

  #otherBody(member: string): OtlpBody {
    const { kind, text } = this.#value.valueOf(member)
    return { kind, bytes: Buffer.from(text) }
  }

  attribute(): Attribute {
    const reader = this.#reader
    this.#allowance.spend()
    if (!isNext(reader, OPEN_OBJECT)) throw new UnreadableRecord('an attribute is not an object')
    reader.openObject()
    let name = UNNAMED
    let value = absent
    while (reader.key()) {
      const member = this.#value.name()
      if (member === 'key' && isNext(reader, QUOTE)) name = this.#name()
      else if (member === 'value') value = this.#value.read()
      else reader.skip()
    }
    return { name, kind: value.kind, text: value.text }
  }

  #name(): string {
    const reader = this.#reader
    reader.string()
    const { start, stop, escaped } = reader
    return this.#names.of(undefined, start, stop, hashOf(reader.bytes, start, stop), escaped).path
  }
}

/** The digits of the largest 64-bit number. */
const DIGITS_MAX = 20
