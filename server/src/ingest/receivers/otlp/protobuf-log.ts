import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import { KEYS_MAX } from '../json/leaves.ts'
import { hashOf, type KeyNames } from '../names.ts'
import { setLevel, severityName } from './log-record.ts'
import { nanoText, type ValueBudget } from './message.ts'

/** The first bytes of the fields of a log record: number and wire type. */
const TIME = 0x09
const SEVERITY_NUMBER = 0x10
const SEVERITY_TEXT = 0x1a
const BODY = 0x2a
const ATTRIBUTE = 0x32
const DROPPED = 0x38
const FLAGS = 0x45
const TRACE_ID = 0x4a
const SPAN_ID = 0x52
const OBSERVED = 0x59
const EVENT_NAME = 0x62
/** The first bytes of the fields of a pair and of a value. */
const KEY = 0x0a
const VALUE = 0x12
const STRING_VALUE = 0x0a
const BOOL_VALUE = 0x10
const INT_VALUE = 0x18
const DOUBLE_VALUE = 0x21

const NS_PER_MS = 1_000_000
const TWO_TO_32 = 2 ** 32
const [TRACE_ID_BYTES, SPAN_ID_BYTES] = [16, 8]
/** Longer varints than these many bytes are left to the general reader. */
const COUNT_BYTES_MAX = 4
const INTEGER_BYTES_MAX = 7

/**
 * Reads a log record of the usual form into a draft, without an object for the record, its attributes or their texts: a text as its body, and attributes
 * that are texts, numbers or booleans. Other records, and broken ones, are left to the general reader, which gives the same for these.
 */
export class ProtobufLog {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #names: KeyNames<undefined>
  readonly #allowance: ValueBudget
  /** The position after the varint that was read last, -1 for one that is left to the general reader. */
  #next = 0

  constructor(bytes: Uint8Array, names: KeyNames<undefined>, allowance: ValueBudget) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#names = names
    this.#allowance = allowance
  }

  /** False for a record that is left to the general reader; the draft is not usable then. */
  read(start: number, end: number, draft: RecordDraft): boolean {
    const spent = this.#allowance.left
    draft.clear()
    if (this.#record(start, end, draft)) return true
    this.#allowance.left = spent
    return false
  }

  #record(start: number, end: number, draft: RecordDraft): boolean {
    const bytes = this.#bytes
    let [severity, dropped, flags] = [0, 0, 0]
    let [textStart, textEnd, nameStart, nameEnd, traceStart, traceEnd, spanStart, spanEnd] = [0, 0, 0, 0, 0, 0, 0, 0]
    let [time, observed] = [-1, -1]
    draft.rawEnd = 0
    for (let at = start; at < end; ) {
      const tag = bytes[at] as number
      at += 1
      if (tag === TIME || tag === OBSERVED) {
        if (end - at < 8) return false
        if (tag === TIME) time = at
        else observed = at
        at += 8
        continue
      }
      if (tag === FLAGS) {
        if (end - at < 4) return false
        flags = this.#view.getUint32(at, true)
        at += 4
        continue
      }
      const value = this.#varint(at, end, COUNT_BYTES_MAX)
      if (value < 0) return false
      at = this.#next
      if (tag === SEVERITY_NUMBER) severity = value
      else if (tag === DROPPED) dropped = value
      else {
        const to = at + value
        if (to > end) return false
        if (tag === ATTRIBUTE) {
          if (!this.#attribute(at, to, draft)) return false
        } else if (tag === BODY) {
          if (!this.#body(at, to, draft)) return false
        } else if (tag === SEVERITY_TEXT) [textStart, textEnd] = [at, to]
        else if (tag === EVENT_NAME) [nameStart, nameEnd] = [at, to]
        else if (tag === TRACE_ID) [traceStart, traceEnd] = [at, to]
        else if (tag === SPAN_ID) [spanStart, spanEnd] = [at, to]
        else return false
        at = to
      }
    }
    if (draft.rawEnd === 0) return false
    this.#setTimes(draft, time, observed)
    setLevel(draft, severityName(severity), textStart, textEnd)
    const { keys, attributes, memory } = draft
    if (nameEnd > nameStart) keys.add('event_name', nameStart, nameEnd)
    if (this.#isId(traceStart, traceEnd, TRACE_ID_BYTES)) keys.place('trace_id', memory.putHex(traceStart, traceEnd), memory.end)
    if (this.#isId(spanStart, spanEnd, SPAN_ID_BYTES)) keys.place('span_id', memory.putHex(spanStart, spanEnd), memory.end)
    if (flags > 0) attributes.place('$otel.flags', memory.putAscii(String(flags)), memory.end)
    if (dropped > 0) attributes.place('$otel.dropped_attributes', memory.putAscii(String(dropped)), memory.end)
    return true
  }

  /** Only a text that is not empty. */
  #body(start: number, end: number, draft: RecordDraft): boolean {
    if (this.#bytes[start] !== STRING_VALUE) return false
    const length = this.#varint(start + 1, end, COUNT_BYTES_MAX)
    if (length <= 0 || this.#next + length !== end) return false
    draft.rawStart = this.#next
    draft.rawEnd = end
    return true
  }

  #attribute(start: number, end: number, draft: RecordDraft): boolean {
    const bytes = this.#bytes
    this.#allowance.spend()
    if (bytes[start] !== KEY || draft.keys.count >= KEYS_MAX) return false
    const length = this.#varint(start + 1, end, COUNT_BYTES_MAX)
    const keyStart = this.#next
    const keyEnd = keyStart + length
    if (length < 0 || keyEnd >= end || bytes[keyEnd] !== VALUE) return false
    const valueLength = this.#varint(keyEnd + 1, end, COUNT_BYTES_MAX)
    if (valueLength <= 0 || this.#next + valueLength !== end) return false
    const valueStart = this.#next
    const { path } = this.#names.of(undefined, keyStart, keyEnd, hashOf(bytes, keyStart, keyEnd), false)
    return path !== '' && this.#value(path, valueStart, end, draft)
  }

  #value(path: string, start: number, end: number, { keys, memory }: RecordDraft): boolean {
    const at = start + 1
    switch (this.#bytes[start]) {
      case STRING_VALUE: {
        const length = this.#varint(at, end, COUNT_BYTES_MAX)
        if (length < 0 || this.#next + length !== end) return false
        keys.add(path, this.#next, end)
        return true
      }
      case INT_VALUE: {
        const integer = this.#varint(at, end, INTEGER_BYTES_MAX)
        if (integer < 0 || this.#next !== end) return false
        keys.place(path, memory.putInteger(integer), memory.end)
        return true
      }
      case DOUBLE_VALUE: {
        if (end - at !== 8) return false
        const double = this.#view.getFloat64(at, true)
        keys.place(path, memory.putAscii(Object.is(double, -0) ? '-0' : String(double)), memory.end)
        return true
      }
      case BOOL_VALUE: {
        const bool = this.#bytes[at] as number
        if (end - at !== 1 || bool > 1) return false
        keys.place(path, memory.putAscii(String(bool === 1)), memory.end)
        return true
      }
      default:
        return false
    }
  }

  #setTimes(draft: RecordDraft, time: number, observed: number): void {
    if (observed >= 0 && this.#readTime(observed, draft)) {
      const { memory, ms, ns } = draft
      draft.attributes.place('$otel.observed_time', memory.putAscii(nanoText({ ms, ns })), memory.end)
    }
    if (time >= 0) this.#readTime(time, draft)
  }

  /** Sets the time of the draft, unless it is 0. */
  #readTime(at: number, draft: RecordDraft): boolean {
    const low = this.#view.getUint32(at, true)
    const high = this.#view.getUint32(at + 4, true)
    if (low === 0 && high === 0) return false
    // Long division by halves: each step stays below 2^53.
    const rest = (high % NS_PER_MS) * TWO_TO_32 + low
    draft.ms = Math.floor(high / NS_PER_MS) * TWO_TO_32 + Math.floor(rest / NS_PER_MS)
    draft.ns = rest % NS_PER_MS
    return true
  }

  #isId(start: number, end: number, length: number): boolean {
    if (end - start !== length) return false
    for (let at = start; at < end; at += 1) if (this.#bytes[at] !== 0) return true
    return false
  }

  /** Reads a varint of at most `bytesMax` bytes; -1 for another. */
  #varint(start: number, end: number, bytesMax: number): number {
    const bytes = this.#bytes
    const first = bytes[start] as number
    if (start >= end) return -1
    if (first < 0x80) {
      this.#next = start + 1
      return first
    }
    let value = first & 0x7f
    let scale = 0x80
    for (let at = start + 1; at < end && at < start + bytesMax; at += 1) {
      const byte = bytes[at] as number
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        this.#next = at + 1
        return value
      }
      scale *= 0x80
    }
    return -1
  }
}
