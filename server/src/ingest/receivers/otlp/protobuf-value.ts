import { WireType } from '@bufbuild/protobuf/wire'
import type { BodyText } from '../body-text.ts'
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
import type { ProtobufReader } from './protobuf-reader.ts'

/** The fields of AnyValue. Of several the last one counts. */
export const STRING_VALUE = 1
const BOOL_VALUE = 2
const DOUBLE_VALUE = 4
const ARRAY_VALUE = 5
const KVLIST_VALUE = 6
const BYTES_VALUE = 7
const { LengthDelimited, Varint, Bit64 } = WireType
const wireOf: readonly number[] = [-1, LengthDelimited, Varint, Varint, Bit64, LengthDelimited, LengthDelimited, LengthDelimited]
/** The fields of a key-value pair, and of the lists of values and of pairs. */
const KEY = 1
const VALUE = 2
const ITEMS = 1

const empty: OtlpValue = { kind: EMPTY, text: '' }

/** Reads values. Nested values are written as JSON at once, with a stack in place of recursion. */
export class ProtobufValue {
  readonly #reader: ProtobufReader
  readonly #text: BodyText
  readonly #allowance: ValueBudget
  /** The position of a value's content, once `find` has found it. */
  start = 0
  stop = 0

  constructor(reader: ProtobufReader, text: BodyText, allowance: ValueBudget) {
    this.#reader = reader
    this.#text = text
    this.#allowance = allowance
  }

  /** Scans the message that ends at `end`. Returns the number of the field that holds the value, 0 for none. */
  find(end: number): number {
    const reader = this.#reader
    const outer = reader.end
    reader.end = end
    let field = 0
    while (reader.next()) {
      if (reader.field >= wireOf.length) {
        reader.skip()
        continue
      }
      field = reader.field
      if (reader.wire !== wireOf[field]) throw new UnreadableRecord('a value has the wrong wire type')
      if (reader.wire === LengthDelimited) {
        this.stop = reader.length()
        this.start = reader.at
        reader.at = this.stop
      } else {
        this.start = reader.at
        reader.skip()
        this.stop = reader.at
      }
    }
    reader.end = outer
    return field
  }

  /** Reads the value of the message that ends at `end`. */
  read(end: number): OtlpValue {
    const field = this.find(end)
    if (field === 0) return empty
    if (field === STRING_VALUE) return { kind: TEXT, text: this.#text.text(this.start, this.stop) }
    if (field === ARRAY_VALUE || field === KVLIST_VALUE) {
      const kind = field === ARRAY_VALUE ? LIST : MAP
      const json = this.#nested(kind)
      this.#reader.at = end
      return { kind, text: json }
    }
    const value = this.#scalar(field)
    this.#reader.at = end
    return value
  }

  #scalar(field: number): OtlpValue {
    const reader = this.#reader
    if (field === BYTES_VALUE) return { kind: TEXT, text: Buffer.from(reader.bytes.subarray(this.start, this.stop)).toString('base64') }
    reader.at = this.start
    if (field === DOUBLE_VALUE) {
      const double = reader.double()
      return { kind: Number.isFinite(double) ? SCALAR : TEXT, text: Object.is(double, -0) ? '-0' : String(double) }
    }
    return { kind: SCALAR, text: field === BOOL_VALUE ? String(reader.bool()) : reader.integer() }
  }

  /** Writes the list or map that was just found. */
  #nested(kind: ValueKind): string {
    const reader = this.#reader
    const outer = reader.end
    const open: Open[] = [{ isMap: kind === MAP, at: this.start, end: this.stop, isFirst: true }]
    let json = kind === MAP ? '{' : '['
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      reader.at = top.at
      reader.end = top.end
      const end = this.#item()
      if (end < 0) {
        json += top.isMap ? '}' : ']'
        open.pop()
        continue
      }
      top.at = end
      this.#allowance.spend()
      if (!top.isFirst) json += ','
      top.isFirst = false
      if (top.isMap) json += this.#key(end)
      const field = this.find(reader.end)
      if (field === ARRAY_VALUE || field === KVLIST_VALUE) {
        if (open.length === VALUE_DEPTH_MAX) throw tooDeep()
        open.push({ isMap: field === KVLIST_VALUE, at: this.start, end: this.stop, isFirst: true })
        json += field === KVLIST_VALUE ? '{' : '['
      } else json += this.#json(field)
    }
    reader.end = outer
    return json
  }

  /** Goes to the next item of a list and returns its end, -1 for none. */
  #item(): number {
    const reader = this.#reader
    while (reader.next()) {
      if (reader.field === ITEMS && reader.wire === LengthDelimited) {
        const end = reader.length()
        reader.end = end
        return end
      }
      reader.skip()
    }
    return -1
  }

  /** Reads a pair up to its value, in either order, and returns its key as JSON. */
  #key(end: number): string {
    const reader = this.#reader
    let key = '""'
    let from = end
    let to = end
    reader.end = end
    while (reader.next()) {
      if (reader.wire !== LengthDelimited || reader.field > VALUE) {
        reader.skip()
        continue
      }
      const stop = reader.length()
      if (reader.field === KEY) key = JSON.stringify(this.#text.text(reader.at, stop))
      else {
        from = reader.at
        to = stop
      }
      reader.at = stop
    }
    reader.at = from
    reader.end = to
    return `${key}:`
  }

  #json(field: number): string {
    if (field === 0) return 'null'
    if (field === STRING_VALUE) return JSON.stringify(this.#text.text(this.start, this.stop))
    const { kind, text } = this.#scalar(field)
    return kind === SCALAR ? text : JSON.stringify(text)
  }
}

type Open = { readonly isMap: boolean; at: number; readonly end: number; isFirst: boolean }
