import type { BodyText } from '../body-text.ts'
import { type JsonReader, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { unescapeToText } from '../json/unescape.ts'
import type { KeyNames } from '../names.ts'
import {
  EMPTY,
  LIST,
  MAP,
  type OtlpValue,
  SCALAR,
  TEXT,
  tooDeep,
  UnreadableRecord,
  VALUE_DEPTH_MAX,
  type ValueBudget,
  type ValueKind,
} from './message.ts'

/** The members of a value in JSON. Of several the first one counts. */
const kindsByName: ReadonlyMap<string, ValueKind> = new Map(
  Object.entries<ValueKind>({
    stringValue: TEXT,
    bytesValue: TEXT,
    intValue: SCALAR,
    doubleValue: SCALAR,
    boolValue: SCALAR,
    arrayValue: LIST,
    kvlistValue: MAP,
  }),
)
const NUMBER_OR_BOOLEAN = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)$/

const empty: OtlpValue = { kind: EMPTY, text: '' }

export const isNext = (reader: JsonReader, byte: number): boolean => reader.peek() === byte

/** Reads values in OpenTelemetry's JSON. Nested values are written as plain JSON, with a stack in place of recursion. */
export class JsonValue {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #allowance: ValueBudget
  readonly #names: KeyNames<undefined>

  constructor(reader: JsonReader, text: BodyText, names: KeyNames<undefined>, allowance: ValueBudget) {
    this.#reader = reader
    this.#text = text
    this.#allowance = allowance
    this.#names = names
  }

  /** Reads a text, or a number or word as written; null is ''. */
  text(): string {
    const reader = this.#reader
    if (reader.isNull()) return this.#nothing()
    if (!isNext(reader, QUOTE)) {
      if (isNext(reader, OPEN_OBJECT) || isNext(reader, OPEN_ARRAY)) throw new UnreadableRecord('expected a text, found an object or array')
      reader.scalar()
      return this.#text.text(reader.start, reader.stop)
    }
    reader.string()
    if (reader.escaped) return unescapeToText(reader.bytes.subarray(reader.start, reader.stop))
    return this.#text.text(reader.start, reader.stop)
  }

  /** The key just read. */
  name(): string {
    const { start, stop, hash, escaped } = this.#reader
    return this.#names.of(undefined, start, stop, hash, escaped).path
  }

  /** Opens a value and goes to the member that holds it. Returns undefined, with the value closed again, when there is none. */
  find(): string | undefined {
    const reader = this.#reader
    if (reader.isNull()) {
      reader.scalar()
      return undefined
    }
    if (!isNext(reader, OPEN_OBJECT)) throw new UnreadableRecord('a value is not an object')
    reader.openObject()
    return this.#findMember()
  }

  #findMember(): string | undefined {
    const reader = this.#reader
    while (reader.key()) {
      const name = this.name()
      if (kindsByName.has(name) && !reader.isNull()) return name
      reader.skip()
    }
    return undefined
  }

  /** Skips the rest of the open object. */
  close(): void {
    while (this.#reader.key()) this.#reader.skip()
  }

  read(): OtlpValue {
    const member = this.find()
    if (member === undefined) return empty
    const value = this.valueOf(member)
    this.close()
    return value
  }

  /** Reads the member that `find` has found. */
  valueOf(member: string): OtlpValue {
    const kind = kindsByName.get(member) ?? EMPTY
    if (kind === LIST || kind === MAP) return { kind, text: this.#nested(kind) }
    const text = this.text()
    return { kind: kind === SCALAR && !NUMBER_OR_BOOLEAN.test(text) ? TEXT : kind, text }
  }

  #nested(outermost: ValueKind): string {
    const parts: string[] = []
    const open: Open[] = []
    this.#open(outermost, open, parts)
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (this.#nextItem(top, parts)) {
        const member = this.find()
        const kind = member === undefined ? EMPTY : kindsByName.get(member)
        if (kind === LIST || kind === MAP) this.#open(kind, open, parts)
        else {
          parts.push(member === undefined ? 'null' : json(this.valueOf(member)))
          if (member !== undefined) this.close()
        }
      } else {
        parts.push(top.isMap ? '}' : ']')
        open.pop()
        // Close the list's own object and, for a nested list, the value that contains it.
        if (open.length > 0) this.close()
      }
    }
    return parts.join('')
  }

  #open(kind: ValueKind, open: Open[], parts: string[]): void {
    if (open.length === VALUE_DEPTH_MAX) throw tooDeep()
    const isMap = kind === MAP
    parts.push(isMap ? '{' : '[')
    if (!isNext(this.#reader, OPEN_OBJECT)) throw new UnreadableRecord('a list of values is not an object')
    this.#reader.openObject()
    open.push({ isMap, isFirst: true, isInItems: false, pair: undefined })
  }

  /** Goes to the next value of the innermost list or map; false with its object closed. */
  #nextItem(top: Open, parts: string[]): boolean {
    const reader = this.#reader
    for (;;) {
      if (top.pair !== undefined) {
        if (this.#toValue(top.pair, parts)) return true
        top.pair = undefined
      } else if (!top.isInItems) {
        if (!this.#toItems()) return false
        top.isInItems = true
      } else if (!reader.element()) top.isInItems = false
      else {
        this.#allowance.spend()
        if (!top.isFirst) parts.push(',')
        top.isFirst = false
        if (!top.isMap) return true
        if (!isNext(reader, OPEN_OBJECT)) throw new UnreadableRecord('a pair of a map is not an object')
        reader.openObject()
        // Reserve a position for the key, since the value may come first.
        top.pair = { at: parts.push('"":') - 1, hasValue: false }
      }
    }
  }

  /** Goes into the items of a list, and on to later items. */
  #toItems(): boolean {
    const reader = this.#reader
    while (reader.key()) {
      if (this.name() === 'values' && isNext(reader, OPEN_ARRAY)) {
        reader.openArray()
        return true
      }
      reader.skip()
    }
    return false
  }

  /** Reads a pair up to its value; false at its end. */
  #toValue(pair: Pair, parts: string[]): boolean {
    const reader = this.#reader
    while (reader.key()) {
      const name = this.name()
      if (name === 'key') parts[pair.at] = `${JSON.stringify(this.text())}:`
      else if (name === 'value' && !pair.hasValue) {
        pair.hasValue = true
        return true
      } else reader.skip()
    }
    if (!pair.hasValue) parts.push('null')
    return false
  }

  #nothing(): string {
    this.#reader.scalar()
    return ''
  }
}

/** The open pair of a map: the position of its key among the parts, and whether its value has been read. */
type Pair = { readonly at: number; hasValue: boolean }
type Open = { readonly isMap: boolean; isFirst: boolean; isInItems: boolean; pair: Pair | undefined }

const json = ({ kind, text }: OtlpValue): string => (kind === SCALAR ? text : JSON.stringify(text))
