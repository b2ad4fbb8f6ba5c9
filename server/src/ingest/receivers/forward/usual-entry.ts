import { DEPTH_MAX } from '../../../lines/reference/walk.ts'
import type { FieldDraft, RecordDraft } from '../../../lines/shredder/record-table.ts'
import { KEYS_MAX } from '../json/leaves.ts'
import { hashOf, type KeyName, type KeyNames } from '../names.ts'
import { ServiceRoute } from '../service-route.ts'
import { type ForwardRole, LOG, lineKeys } from './record.ts'

/** First bytes of values. */
const [TWO_ELEMENTS, NO_MEMBERS, MEMBERS_16, MEMBERS_32] = [0x92, 0x80, 0xde, 0xdf]
const [EIGHT_BYTES, EVENT_TIME] = [0xd7, 0x00]
const [NIL, FALSE, TRUE, FLOAT, DOUBLE] = [0xc0, 0xc2, 0xc3, 0xca, 0xcb]
const [UINT_8, UINT_16, UINT_32, UINT_64, INT_8, INT_16, INT_32, INT_64] = [0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3]
const [BINARY_8, BINARY_16, BINARY_32, TEXT_8, TEXT_16, TEXT_32] = [0xc4, 0xc5, 0xc6, 0xd9, 0xda, 0xdb]
const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]

const NS_PER_MS = 1_000_000
const TWO_TO_32 = 2 ** 32
/** The upper half of 2^53. */
const HIGH_END = 2 ** 21
const NONE = -1
/** The names of a record that are compared with those of the one before. */
const EXPECTED_MAX = 64

/** Where an entry lies: the bytes, and the position of the first of them among the texts of the post. */
export type EntryBytes = { readonly bytes: Buffer; readonly base: number }

/**
 * Reads an entry of the usual form into a draft, without objects and mostly without strings: a time and a record with a line, of texts, numbers and booleans,
 * in maps as well. Other entries, and broken ones, are left to ForwardRecords, which gives the same for these.
 */
export class UsualEntries {
  /** The position after the entry that was read. */
  at = 0
  /** The container that the record names. */
  container: string | undefined
  /** The service that the record names. */
  readonly service = new ServiceRoute()
  /** The container that was read last, and its position. */
  #knownContainer = ''
  #knownStart = 0
  #knownEnd = 0
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #base: number
  readonly #draft: RecordDraft
  readonly #names: KeyNames<ForwardRole>
  #end = 0
  /** The names in the order of the previous record, which most records repeat. */
  readonly #expected: KeyName<ForwardRole>[] = []
  readonly #around: (KeyName<ForwardRole> | undefined)[] = []
  readonly #nameStarts = new Int32Array(EXPECTED_MAX)
  readonly #nameEnds = new Int32Array(EXPECTED_MAX)
  #nameCount = 0
  /** The candidates for the line by rank, and the position of the text that `#readText` found. */
  readonly #lineStarts = new Int32Array(lineKeys.length)
  readonly #lineEnds = new Int32Array(lineKeys.length)
  #textStart = 0

  constructor({ bytes, base }: EntryBytes, names: KeyNames<ForwardRole>, draft: RecordDraft) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#base = base
    this.#names = names
    this.#draft = draft
  }

  /** Reads `[time, record]` or `[[time, {}], record]`; false for an entry that is left to ForwardRecords. The draft is not usable then. */
  readEntry(start: number, end: number): boolean {
    if (this.#bytes[start] !== TWO_ELEMENTS || start + 1 >= end) return false
    return this.readRecord(start + 1, end)
  }

  /** Reads a time and a record after it; false like `readEntry`. */
  readRecord(start: number, end: number): boolean {
    this.#draft.clear()
    this.#end = end
    this.at = start
    this.container = undefined
    this.service.clear()
    this.#nameCount = 0
    this.#lineStarts.fill(NONE)
    return this.#time() && this.#members(this.#manyOf(), undefined, 1) && this.#line()
  }

  #time(): boolean {
    const bytes = this.#bytes
    let { at } = this
    const hasMetadata = bytes[at] === TWO_ELEMENTS
    if (hasMetadata) at += 1
    const head = bytes[at]
    if (head === EIGHT_BYTES && bytes[at + 1] === EVENT_TIME && at + 10 < this.#end) {
      const nanos = this.#view.getUint32(at + 6)
      this.#draft.ms = this.#view.getUint32(at + 2) * 1_000 + Math.floor(nanos / NS_PER_MS)
      this.#draft.ns = nanos % NS_PER_MS
      at += 10
    } else if (head === UINT_32 && at + 5 < this.#end) {
      const seconds = this.#view.getUint32(at + 1)
      if (seconds === 0) return false
      this.#draft.ms = seconds * 1_000
      this.#draft.ns = 0
      at += 5
    } else return false
    if (hasMetadata) {
      if (bytes[at] !== NO_MEMBERS || at >= this.#end) return false
      at += 1
    }
    this.at = at
    return true
  }

  /** Reads the head of a map and returns the number of its members, -1 for another value. */
  #manyOf(): number {
    const { at } = this
    const head = this.#bytes[at] as number
    if (at + 5 > this.#end) return at < this.#end && head === NO_MEMBERS ? this.#opened(1, 0) : NONE
    if (head >= 0x80 && head <= 0x8f) return this.#opened(1, head & 0x0f)
    if (head === MEMBERS_16) return this.#opened(3, this.#view.getUint16(at + 1))
    return head === MEMBERS_32 ? this.#opened(5, this.#view.getUint32(at + 1)) : NONE
  }

  #opened(headBytes: number, count: number): number {
    this.at += headBytes
    return count <= this.#end - this.at ? count : NONE
  }

  #members(count: number, around: KeyName<ForwardRole> | undefined, depth: number): boolean {
    for (let left = count; left > 0; left -= 1) {
      const name = this.#name(around)
      if (name === undefined || this.at >= this.#end || !this.#member(name, depth)) return false
    }
    return count >= 0
  }

  #member(name: KeyName<ForwardRole>, depth: number): boolean {
    const head = this.#bytes[this.at] as number
    if (head === NIL) {
      this.at += 1
      return true
    }
    if ((head >= 0x80 && head <= 0x8f) || head === MEMBERS_16 || head === MEMBERS_32) {
      return depth < DEPTH_MAX && this.#members(this.#manyOf(), name, depth + 1)
    }
    const isText = this.#readText(head)
    if (this.at > this.#end) return false
    const { role, path } = name
    if (isText && role.line >= 0) {
      this.#lineStarts[role.line] = this.#textStart
      this.#lineEnds[role.line] = this.at
      return true
    }
    const { keys, attributes } = this.#draft
    if (path === '' || keys.count + attributes.count >= KEYS_MAX) return false
    const fields = role.attribute === undefined ? keys : attributes
    const key = role.attribute ?? path
    if (!isText) return !role.isContainer && this.#number(head, fields, key)
    if (role.service !== undefined) this.service.note(role.service, this.#bytes.toString('utf8', this.#textStart, this.at))
    if (role.isContainer) this.container = this.#containerAt(this.#textStart, this.at)
    this.#add(fields, key, this.#textStart, this.at)
    return true
  }

  #containerAt(start: number, end: number): string {
    if (!this.#isSame(this.#knownStart, this.#knownEnd, start, end)) {
      this.#knownContainer = this.#bytes.toString('utf8', start, end)
      this.#knownStart = start
      this.#knownEnd = end
    }
    return this.#knownContainer
  }

  #isSame(from: number, to: number, start: number, end: number): boolean {
    if (end - start !== to - from) return false
    const bytes = this.#bytes
    for (let at = from; at < to; at += 1) if (bytes[at] !== bytes[start + at - from]) return false
    return true
  }

  #add(fields: FieldDraft, path: string, start: number, end: number): void {
    const base = this.#base
    if (base < 0) fields.add(path, base - start, base - end)
    else fields.add(path, start, end)
  }

  /** Goes past a text or binary, which may end beyond the entry; false for another value. */
  #readText(head: number): boolean {
    const { at } = this
    let [headBytes, length] = [1, 0]
    if (head >= 0xa0 && head <= 0xbf) length = head & 0x1f
    else if (at + 5 > this.#end) return false
    else if (head === TEXT_8 || head === BINARY_8) [headBytes, length] = [2, this.#bytes[at + 1] as number]
    else if (head === TEXT_16 || head === BINARY_16) [headBytes, length] = [3, this.#view.getUint16(at + 1)]
    else if (head === TEXT_32 || head === BINARY_32) [headBytes, length] = [5, this.#view.getUint32(at + 1)]
    else return false
    this.#textStart = at + headBytes
    this.at = this.#textStart + length
    return true
  }

  /** Reads a name, most cheaply the one that the previous record had in this place; undefined for one that is left to ForwardRecords. */
  #name(around: KeyName<ForwardRole> | undefined): KeyName<ForwardRole> | undefined {
    const bytes = this.#bytes
    const number = this.#nameCount
    this.#nameCount += 1
    const start = this.at
    const expected = this.#expected[number]
    if (expected !== undefined && this.#around[number] === around) {
      const from = this.#nameStarts[number] as number
      const to = this.#nameEnds[number] as number
      const end = start + to - from
      if (end <= this.#end && this.#isSame(from, to, start, end)) {
        this.at = end
        return expected
      }
    }
    if (start >= this.#end || !this.#readText(bytes[start] as number) || this.at > this.#end) return undefined
    const name = this.#names.of(around, this.#textStart, this.at, hashOf(bytes, this.#textStart, this.at), false)
    if (number < EXPECTED_MAX) {
      this.#expected[number] = name
      this.#around[number] = around
      this.#nameStarts[number] = start
      this.#nameEnds[number] = this.at
    }
    return name
  }

  /** Adds a number or a boolean, as MsgpackReader writes it; false for another value. */
  #number(head: number, fields: FieldDraft, path: string): boolean {
    const { at } = this
    const view = this.#view
    if (head <= 0x7f) return this.#integer(1, head, fields, path)
    if (head >= 0xe0) return this.#integer(1, head - 0x100, fields, path)
    const length = head >= UINT_8 && head <= INT_64 ? 1 << (head & 3) : head === DOUBLE ? 8 : head === FLOAT ? 4 : 0
    if (at + 1 + length > this.#end) return false
    switch (head) {
      case FALSE:
      case TRUE:
        return this.#written(1, String(head === TRUE), fields, path)
      case FLOAT:
        return this.#written(5, String(view.getFloat32(at + 1)), fields, path)
      case DOUBLE:
        return this.#written(9, String(view.getFloat64(at + 1)), fields, path)
      case UINT_8:
        return this.#integer(2, view.getUint8(at + 1), fields, path)
      case UINT_16:
        return this.#integer(3, view.getUint16(at + 1), fields, path)
      case UINT_32:
        return this.#integer(5, view.getUint32(at + 1), fields, path)
      case INT_8:
        return this.#integer(2, view.getInt8(at + 1), fields, path)
      case INT_16:
        return this.#integer(3, view.getInt16(at + 1), fields, path)
      case INT_32:
        return this.#integer(5, view.getInt32(at + 1), fields, path)
      case UINT_64:
      case INT_64: {
        const high = view.getUint32(at + 1)
        if (high < HIGH_END) return this.#integer(9, high * TWO_TO_32 + view.getUint32(at + 5), fields, path)
        return this.#written(9, String(head === INT_64 ? view.getBigInt64(at + 1) : view.getBigUint64(at + 1)), fields, path)
      }
      default:
        return false
    }
  }

  #integer(length: number, value: number, fields: FieldDraft, path: string): boolean {
    if (value < 0) return this.#written(length, String(value), fields, path)
    const { memory } = this.#draft
    this.at += length
    fields.place(path, memory.putInteger(value), memory.end)
    return true
  }

  #written(length: number, text: string, fields: FieldDraft, path: string): boolean {
    const { memory } = this.#draft
    this.at += length
    fields.place(path, memory.putAscii(text), memory.end)
    return true
  }

  /** Sets the line to the best candidate; the others become keys. False without a line. */
  #line(): boolean {
    let found = false
    for (let rank = 0; rank < lineKeys.length; rank += 1) {
      const start = this.#lineStarts[rank] as number
      const end = this.#lineEnds[rank] as number
      if (start < 0) continue
      if (found) this.#add(this.#draft.keys, lineKeys[rank] as string, start, end)
      else this.#setLine(start, rank === LOG ? this.#withoutLineEnd(start, end) : end)
      found = true
    }
    return found
  }

  #setLine(start: number, end: number): void {
    const base = this.#base
    if (base < 0) this.#draft.setRawAt(base - start, base - end)
    else this.#draft.setRawAt(start, end)
  }

  #withoutLineEnd(start: number, end: number): number {
    const bytes = this.#bytes
    if (end === start || bytes[end - 1] !== LINE_FEED) return end
    return end - start > 1 && bytes[end - 2] === CARRIAGE_RETURN ? end - 2 : end - 1
  }
}
