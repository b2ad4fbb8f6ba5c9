import { Failure } from '../../../kernel/errors.ts'
import type { FieldDraft, RecordDraft } from '../../../lines/shredder/record-table.ts'
import type { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { type JsonReader, OPEN_OBJECT, startsScalar } from '../json/reader.ts'
import { unescapeInto, unescapeToText } from '../json/unescape.ts'
import { isEqualPart } from '../json/words.ts'
import { hashOf, KeyNames } from '../names.ts'
import { setLevel, severityName } from './log-record.ts'
import type { ValueBudget } from './message.ts'

const NOTHING = -1
/** The places of the members of a log record in the columns of texts. */
const recordMembers = [
  'timeUnixNano',
  'observedTimeUnixNano',
  'severityNumber',
  'severityText',
  'eventName',
  'traceId',
  'spanId',
  'droppedAttributesCount',
  'flags',
  'body',
  'attributes',
]
const [TIME, OBSERVED, SEVERITY_NUMBER, SEVERITY_TEXT, EVENT_NAME, TRACE_ID, SPAN_ID, DROPPED, FLAGS, BODY, ATTRIBUTES] =
  recordMembers.keys() as unknown as [number, number, number, number, number, number, number, number, number, number, number]
const attributeMembers = ['key', 'value']
const [KEY, VALUE] = [0, 1]
const valueMembers = ['stringValue', 'intValue', 'doubleValue', 'boolValue', 'bytesValue']
const STRING_VALUE = 0

const [ZERO, NINE, LOWER_A, LOWER_F, LOWER_N] = [0x30, 0x39, 0x61, 0x66, 0x6e]
const [TRACE_ID_DIGITS, SPAN_ID_DIGITS] = [32, 16]
/** More digits may be no safe integer. */
const INTEGER_DIGITS_MAX = 15
const TIME_DIGITS_MAX = 20
const NS_DIGITS = 6

/** An attribute of one value: its bytes up to the value, and those after it. */
type KnownAttribute = { path: string; start: number; length: number; isString: boolean; endStart: number; endLength: number }

/**
 * Reads a log record of the usual form in OpenTelemetry's JSON into a draft, without an object for the record, its attributes or their texts: a text as its
 * body, and attributes that are texts, numbers or booleans. Other records, and broken ones, are left to the general reader, which gives the same for these.
 */
export class JsonLog {
  readonly #reader: JsonReader
  readonly #names: KeyNames<undefined>
  readonly #allowance: ValueBudget
  readonly #record: JsonLeaves<number>
  readonly #attribute: JsonLeaves<number>
  readonly #value: JsonLeaves<number>
  /** The texts of the record's members, by their places. */
  readonly #starts = new Int32Array(recordMembers.length)
  readonly #ends = new Int32Array(recordMembers.length)
  /** The attributes of an earlier record, in order. Most records of a program have the same. */
  readonly #known: KnownAttribute[] = []

  constructor(reader: JsonReader, text: BodyText, names: KeyNames<undefined>, allowance: ValueBudget) {
    const members = (all: readonly string[]) =>
      new JsonLeaves(reader, new KeyNames(reader.bytes, text, (path) => all.indexOf(path)), text, { isFlat: true, keepsNull: true })
    this.#reader = reader
    this.#names = names
    this.#allowance = allowance
    this.#record = members(recordMembers)
    this.#attribute = members(attributeMembers)
    this.#value = members(valueMembers)
  }

  /** False for a record that is left to the general reader, at its beginning; the draft is not usable then. */
  read(draft: RecordDraft): boolean {
    const reader = this.#reader
    if (reader.peek() !== OPEN_OBJECT) return false
    const { at } = reader
    const spent = this.#allowance.left
    draft.clear()
    try {
      if (this.#readRecord(draft)) return true
    } catch (thrown) {
      // The general reader fails at the same place, with a message that names it.
      if (!(thrown instanceof Failure)) throw thrown
    }
    this.#allowance.left = spent
    reader.goTo(at)
    return false
  }

  #readRecord(draft: RecordDraft): boolean {
    const reader = this.#reader
    const record = this.#record
    this.#starts.fill(NOTHING)
    this.#ends.fill(NOTHING)
    record.open()
    for (let name = record.next(); name !== undefined; name = record.next()) {
      const member = name.role
      if (member < 0) {
        record.finishValue()
        continue
      }
      if (!record.isOpen && this.#isNull(record)) continue
      // Of a member that is there twice the last value counts, except for attributes, which add up.
      if (record.isOpen) {
        this.#starts[member] = reader.at
        if (member === ATTRIBUTES ? !this.#readAttributes(draft) : member !== BODY || !this.#readBody(draft)) return false
        continue
      }
      if (member === BODY || member === ATTRIBUTES || reader.escaped) return false
      this.#starts[member] = reader.start
      this.#ends[member] = reader.stop
    }
    return this.#starts[BODY] !== NOTHING && this.#finish(draft)
  }

  /** Adds what the members say to the draft, in the order of logToRecord. */
  #finish(draft: RecordDraft): boolean {
    const severity = this.#integerOf(SEVERITY_NUMBER)
    const flags = this.#integerOf(FLAGS)
    const dropped = this.#integerOf(DROPPED)
    if (severity < 0 || flags < 0 || dropped < 0 || !this.#readTime(OBSERVED, draft)) return false
    const { keys, attributes, memory } = draft
    if (!Number.isNaN(draft.ms)) attributes.place('$otel.observed_time', this.#startOf(OBSERVED), this.#endOf(OBSERVED))
    if (!this.#readTime(TIME, draft)) return false
    setLevel(draft, severityName(severity), this.#startOf(SEVERITY_TEXT), this.#endOf(SEVERITY_TEXT))
    if (this.#endOf(EVENT_NAME) > this.#startOf(EVENT_NAME)) keys.add('event_name', this.#startOf(EVENT_NAME), this.#endOf(EVENT_NAME))
    if (!this.#addId(TRACE_ID, 'trace_id', TRACE_ID_DIGITS, draft) || !this.#addId(SPAN_ID, 'span_id', SPAN_ID_DIGITS, draft)) return false
    if (flags > 0) attributes.place('$otel.flags', memory.putInteger(flags), memory.end)
    if (dropped > 0) attributes.place('$otel.dropped_attributes', memory.putInteger(dropped), memory.end)
    return true
  }

  /** Only a text that is not empty. */
  #readBody(draft: RecordDraft): boolean {
    const value = this.#value
    value.open()
    if (value.next()?.role !== STRING_VALUE || !value.isString) return false
    const { bytes, start, stop, escaped } = this.#reader
    if (start === stop) return false
    if (escaped) {
      const { memory } = draft
      const place = memory.reserve(stop - start)
      draft.setRawAt(memory.placed(unescapeInto(bytes, start, stop, memory.own, place) - place), memory.end)
    } else draft.setRawAt(start, stop, true)
    return value.next() === undefined
  }

  #readAttributes(draft: RecordDraft): boolean {
    const reader = this.#reader
    if (reader.peek() === OPEN_OBJECT) return false
    reader.openArray()
    for (let place = 0; reader.element(); place += 1) {
      if (reader.peek() !== OPEN_OBJECT || !this.#readAttribute(place, draft)) return false
    }
    return true
  }

  /** One key, and one value after it. */
  #readAttribute(place: number, { keys }: RecordDraft): boolean {
    this.#allowance.spend()
    if (keys.count >= KEYS_MAX) return false
    const known = this.#known[place]
    if (known && this.#repeats(known, keys)) return true
    const attribute = this.#attribute
    const reader = this.#reader
    const { at: from } = reader
    attribute.open()
    if (attribute.next()?.role !== KEY || !attribute.isString) return false
    const { bytes, start: keyStart, stop: keyStop } = reader
    const { path } = this.#names.of(undefined, keyStart, keyStop, hashOf(bytes, keyStart, keyStop), reader.escaped)
    if (path === '' || attribute.next()?.role !== VALUE || !attribute.isOpen) return false
    const value = this.#value
    value.open()
    const member = value.next()?.role ?? NOTHING
    if (member < 0 || value.isOpen || this.#isNull(value)) return false
    value.addTo(keys, path)
    const { isString } = value
    const { start, at: endStart } = reader
    if (value.next() !== undefined || attribute.next() !== undefined) return false
    this.#known[place] = { path, start: from, length: start - from, isString, endStart, endLength: reader.at - endStart }
    return true
  }

  /** Reads an attribute whose bytes around the value are those of an earlier one; the reader stays where it is at another one. */
  #repeats({ path, start, length, isString, endStart, endLength }: KnownAttribute, keys: FieldDraft): boolean {
    const reader = this.#reader
    const { at, view } = reader
    const valueStart = at + length
    if (valueStart >= reader.end || !isEqualPart(view, start, at, length)) return false
    if (isString) reader.stringAt(valueStart)
    else {
      if (!startsScalar(reader.bytes[valueStart] as number)) return false
      reader.goTo(valueStart)
      reader.scalar()
    }
    const end = reader.at + endLength
    const isEnd = end <= reader.end && isEqualPart(view, endStart, reader.at, endLength)
    reader.goTo(isEnd ? end : at)
    if (isEnd && reader.escaped) keys.addText(path, unescapeToText(reader.bytes.subarray(reader.start, reader.stop)))
    else if (isEnd) keys.add(path, reader.start, reader.stop)
    return isEnd
  }

  /** A text of digits, or a number; 0 when there is none, -1 for another text. */
  #integerOf(member: number): number {
    const [start, end] = [this.#startOf(member), this.#endOf(member)]
    if (start === NOTHING) return 0
    if (start === end || end - start > INTEGER_DIGITS_MAX) return NOTHING
    return this.#digits(start, end)
  }

  #digits(start: number, end: number): number {
    const { bytes } = this.#reader
    let number = 0
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number
      if (byte < ZERO || byte > NINE) return NOTHING
      number = number * 10 + byte - ZERO
    }
    return number
  }

  /** Sets the time of the draft, unless it is 0; false for another text than digits. */
  #readTime(member: number, draft: RecordDraft): boolean {
    const [start, end] = [this.#startOf(member), this.#endOf(member)]
    if (start === NOTHING) return true
    if (start === end || end - start > TIME_DIGITS_MAX) return false
    if (this.#reader.bytes[start] === ZERO) return end - start === 1
    const border = Math.max(start, end - NS_DIGITS)
    const [ms, ns] = [this.#digits(start, border), this.#digits(border, end)]
    if (ms < 0 || ns < 0) return false
    draft.ms = ms
    draft.ns = ns
    return true
  }

  /** Adds an id in lower-case hexadecimal, unless it is empty or zero; false for another text. */
  #addId(member: number, path: string, digits: number, { keys }: RecordDraft): boolean {
    const [start, end] = [this.#startOf(member), this.#endOf(member)]
    if (start === end) return true
    if (end - start !== digits) return false
    const { bytes } = this.#reader
    let isZero = true
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] as number
      if ((byte < ZERO || byte > NINE) && (byte < LOWER_A || byte > LOWER_F)) return false
      if (byte !== ZERO) isZero = false
    }
    if (!isZero) keys.place(path, start, end)
    return true
  }

  #isNull({ isString }: JsonLeaves<number>): boolean {
    return !isString && this.#reader.bytes[this.#reader.start] === LOWER_N
  }

  #startOf(member: number): number {
    return this.#starts[member] as number
  }

  #endOf(member: number): number {
    return this.#ends[member] as number
  }
}
