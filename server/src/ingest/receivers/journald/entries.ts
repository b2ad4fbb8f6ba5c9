import { badRequest } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/reference/event.ts'
import { severityWord } from '../../detect/syslog.ts'
import type { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { KEYS_MAX } from '../json/leaves.ts'
import { hashOf, KeyNames } from '../names.ts'

/** A field of an entry: the positions of its name and its value. */
export type JournalField = { nameStart: number; nameEnd: number; start: number; end: number }

const LINE_FEED = 0x0a
const EQUALS = 0x3d
const SIZE_BYTES = 8
const NAME_BYTES_MAX = 1_024
const US_PER_MS = 1_000
const NS_PER_US = 1_000
const US_DIGITS_MAX = 16
const [NUL, QUOTE, ZERO, ASCII_MAX] = [0x00, 0x22, 0x30, 0x7f]
/** The fields of an entry that are compared with those of the one before. */
const EXPECTED_MAX = 128

/**
 * Divides a body into fields. A field is `NAME=value` in one line, or its name, the length of its value as 64 bits, and the value. A blank line ends an
 * entry.
 */
export class JournalFields {
  at = 0
  readonly #body: Uint8Array
  readonly #view: DataView

  constructor(body: Uint8Array) {
    this.#body = body
    this.#view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  }

  get isAtEnd(): boolean {
    return this.at >= this.#body.length
  }

  /** The next field; undefined for a blank line. */
  next(): JournalField | undefined {
    const body = this.#body
    const { at } = this
    const found = body.indexOf(LINE_FEED, at)
    const lineEnd = found < 0 ? body.length : found
    if (lineEnd === at) {
      this.at = at + 1
      return undefined
    }
    const equals = equalsIn(body, at, lineEnd)
    if (equals >= 0) {
      this.at = lineEnd + 1
      return fieldOf(at, equals, equals + 1, lineEnd)
    }
    const start = lineEnd + 1 + SIZE_BYTES
    if (start > body.length) throw badRequest(`the field at byte ${at} has neither a value nor a length`)
    const size = this.#view.getBigUint64(lineEnd + 1, true)
    if (size > BigInt(body.length - start)) throw badRequest(`the field at byte ${at} ends beyond the body`)
    const end = start + Number(size)
    if (end < body.length && body[end] !== LINE_FEED) throw badRequest(`the field at byte ${at} does not end with a line feed`)
    this.at = end + 1
    return fieldOf(at, lineEnd, start, end)
  }
}

/** The position of the sign after the name of a field, -1 for none. The search ends with the line, or fields without it would be slow. */
function equalsIn(body: Uint8Array, start: number, lineEnd: number): number {
  const end = Math.min(lineEnd, start + NAME_BYTES_MAX + 1)
  for (let at = start; at < end; at += 1) if (body[at] === EQUALS) return at
  return -1
}

/** The end of the last complete entry, after its blank line; 0 when there is none. A broken field is left to splitFields. */
export function endOfEntries(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = 0
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf(LINE_FEED, at)
    if (lineEnd < 0) return end
    if (lineEnd === at) end = at + 1
    if (lineEnd === at || equalsIn(bytes, at, lineEnd) >= 0) {
      at = lineEnd + 1
      continue
    }
    if (lineEnd + 1 + SIZE_BYTES > bytes.length) return end
    const size = view.getBigUint64(lineEnd + 1, true)
    if (size > BigInt(bytes.length)) return end
    at = lineEnd + 1 + SIZE_BYTES + Number(size) + 1
  }
  return end
}

function fieldOf(nameStart: number, nameEnd: number, start: number, end: number): JournalField {
  if (nameEnd > nameStart && nameEnd - nameStart <= NAME_BYTES_MAX) return { nameStart, nameEnd, start, end }
  throw badRequest(`the field at byte ${nameStart} has no name, or one of more than ${NAME_BYTES_MAX} bytes`)
}

/** Fields of the journal itself with names that other senders use too. */
const attributeOfField: ReadonlyMap<string, string> = new Map([
  ['_HOSTNAME', '$host.name'],
  ['_SYSTEMD_UNIT', '$systemd.unit'],
  ['_PID', '$process.pid'],
  ['_COMM', '$process.name'],
  ['_EXE', '$process.executable'],
  ['_CMDLINE', '$process.command_line'],
])
/** Other attributes of the journal differ in every entry, or with each start of a program. */
const labels: ReadonlySet<string> = new Set([
  '$host.name',
  '$systemd.unit',
  '$process.name',
  '$process.executable',
  '$journald.boot_id',
  '$journald.machine_id',
  '$journald.runtime_scope',
  '$journald.systemd_slice',
  '$journald.systemd_user_unit',
  '$journald.transport',
])
export const isJournalLabel = (attribute: string): boolean => labels.has(attribute)

/** Fields that name the dataset, best first. */
const datasetFields: readonly string[] = ['SYSLOG_IDENTIFIER', '_SYSTEMD_UNIT', '_COMM']

/** What a field means: its key, its rank among the names of the dataset, and whether it is the message, time or priority. */
type Role = { kind: 'message' | 'time' | 'priority' | 'cursor' | 'other'; key: string; isAttribute: boolean; rank: number }

const kinds: ReadonlyMap<string, Role['kind']> = new Map<string, Role['kind']>([
  ['MESSAGE', 'message'],
  ['__REALTIME_TIMESTAMP', 'time'],
  ['PRIORITY', 'priority'],
  ['__CURSOR', 'cursor'],
])

/** Fields with an underscore come from the journal, the others from the program. */
function roleOf(name: string): Role {
  const isAttribute = name.startsWith('_')
  const key = isAttribute ? (attributeOfField.get(name) ?? `$journald.${name.replace(/^_+/, '').toLowerCase()}`) : name
  return { kind: kinds.get(name) ?? 'other', key, isAttribute, rank: datasetFields.indexOf(name) }
}

/** A name of the previous entry with its sign, and what it means. */
type ExpectedField = { readonly start: number; readonly end: number; readonly role: Role }

/** Reads the entries of one body into the draft of its batches. The names of fields repeat, so each is interpreted once. */
export class JournalEntries {
  /** The number of entries that had a cursor. */
  cursors = 0
  /** The position after the field that `readExpected` read. */
  next = 0
  readonly #body: Uint8Array
  readonly #batches: Batches
  readonly #text: BodyText
  readonly #names: KeyNames<Role>
  /** The fields of the previous entry in order, which most entries repeat. */
  readonly #expected: (ExpectedField | undefined)[] = []
  #place = 0
  #hasMessage = false
  #hasCursor = false
  #time: string | undefined
  #us: number | undefined
  #dropped = 0
  #dataset: string | undefined
  #datasetRank = datasetFields.length
  /** The name of a dataset that was read last. */
  #knownDataset = ''
  #knownStart = 0
  #knownEnd = 0

  constructor(body: Uint8Array, batches: Batches) {
    this.#body = body
    this.#batches = batches
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
  }

  /** Adds the line at a position if it is the field that the previous entry had in this place; false for any other, for which nothing is done. */
  readExpected(at: number): boolean {
    const expected = this.#expected[this.#place]
    const body = this.#body
    if (expected === undefined || !isSame(body, expected.start, expected.end, at)) return false
    const start = at + expected.end - expected.start
    let end = start
    let seen = 0
    let hasOdd = false
    for (; end < body.length; end += 1) {
      const byte = body[end] as number
      if (byte === LINE_FEED) break
      seen |= byte
      if (byte === NUL || byte === QUOTE) hasOdd = true
    }
    if (end === body.length) return false
    this.#place += 1
    this.next = end + 1
    this.#add(expected.role, start, end, !hasOdd && seen <= ASCII_MAX)
    return true
  }

  /** Adds a field to the current entry. */
  add({ nameStart, nameEnd, start, end }: JournalField): void {
    const { role } = this.#names.of(undefined, nameStart, nameEnd, hashOf(this.#body, nameStart, nameEnd), false)
    const isLine = this.#body[nameEnd] === EQUALS
    if (this.#place < EXPECTED_MAX) this.#expected[this.#place] = isLine ? { start: nameStart, end: start, role } : undefined
    this.#place += 1
    this.#add(role, start, end, false)
  }

  /** Adds a value; `isPlain` ones are ASCII without NUL and quotes. */
  #add({ kind, key, isAttribute, rank }: Role, start: number, end: number, isPlain: boolean): void {
    const { draft } = this.#batches
    if (kind === 'message') {
      draft.setRawAt(start, end, isPlain)
      this.#hasMessage = true
      return
    }
    if (kind === 'time') {
      this.#us = isPlain ? this.#usAt(start, end) : undefined
      this.#time = this.#us === undefined ? this.#text.text(start, end) : undefined
      draft.timeStart = start
      draft.timeEnd = end
      return
    }
    if (kind === 'priority') {
      const text = this.#text.text(start, end)
      draft.setLevel(severityWord(text))
    }
    if (kind === 'cursor') this.#hasCursor = true
    if (rank >= 0 && rank < this.#datasetRank && end > start) {
      this.#dataset = this.#datasetAt(start, end)
      this.#datasetRank = rank
    }
    const { keys, attributes } = draft
    if (keys.count + attributes.count >= KEYS_MAX) {
      this.#dropped += 1
      return
    }
    const fields = isAttribute ? attributes : keys
    if (isPlain) fields.place(key, start, end)
    else fields.add(key, start, end)
  }

  /** Reads microseconds; undefined for a text that `end` must read. */
  #usAt(start: number, end: number): number | undefined {
    if (end === start || end - start > US_DIGITS_MAX) return undefined
    let us = 0
    for (let at = start; at < end; at += 1) {
      const digit = (this.#body[at] as number) - ZERO
      if (digit < 0 || digit > 9) return undefined
      us = us * 10 + digit
    }
    return us <= Number.MAX_SAFE_INTEGER ? us : undefined
  }

  #datasetAt(start: number, end: number): string {
    if (end - start !== this.#knownEnd - this.#knownStart || !isSame(this.#body, this.#knownStart, this.#knownEnd, start)) {
      this.#knownDataset = this.#text.text(start, end).replace(/\.service$/, '')
      this.#knownStart = start
      this.#knownEnd = end
    }
    return this.#knownDataset
  }

  /** Ends the current entry, unless it has no fields. */
  end(): void {
    const { draft } = this.#batches
    const { keys, attributes } = draft
    this.#place = 0
    const hasTime = this.#time !== undefined || this.#us !== undefined
    if (!this.#hasMessage && !hasTime && keys.count + attributes.count === 0) return
    if (this.#dropped > 0) attributes.addText('$journald.dropped_fields', String(this.#dropped))
    const us = this.#us ?? (/^\d{1,16}$/.test(this.#time ?? '') ? Number(this.#time) : undefined)
    if (us !== undefined) {
      draft.ms = Math.floor(us / US_PER_MS)
      draft.ns = (us % US_PER_MS) * NS_PER_US
    } else if (this.#time !== undefined) attributes.addText(ORIGINAL_TIME, this.#time)
    if (this.#hasCursor) this.cursors += 1
    this.#batches.take(this.#batches.of({ collection: undefined, dataset: this.#dataset }))
    this.begin()
  }

  begin(): void {
    this.#batches.draft.clear()
    this.#place = 0
    this.#hasMessage = false
    this.#hasCursor = false
    this.#time = undefined
    this.#us = undefined
    this.#dropped = 0
    this.#dataset = undefined
    this.#datasetRank = datasetFields.length
  }
}

/** True when the bytes between two positions are repeated at a third. */
function isSame(bytes: Uint8Array, start: number, end: number, at: number): boolean {
  if (at + end - start > bytes.length) return false
  for (let place = start; place < end; place += 1) if (bytes[place] !== bytes[at + place - start]) return false
  return true
}
