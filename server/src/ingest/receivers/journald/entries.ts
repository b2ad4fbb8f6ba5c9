import { badRequest } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/event.ts'
import { severities } from '../../detect/syslog.ts'
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

/**
 * Yields the fields of a body, and undefined between entries. A field is `NAME=value` in one line, or its name, the length of its value as 64
 * bits, and the value.
 */
export function* splitFields(body: Uint8Array): Generator<JournalField | undefined> {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  for (let at = 0; at < body.length; ) {
    const found = body.indexOf(LINE_FEED, at)
    const lineEnd = found < 0 ? body.length : found
    if (lineEnd === at) {
      at += 1
      yield undefined
      continue
    }
    const equals = equalsIn(body, at, lineEnd)
    if (equals >= 0) {
      yield fieldOf(at, equals, equals + 1, lineEnd)
      at = lineEnd + 1
      continue
    }
    const start = lineEnd + 1 + SIZE_BYTES
    if (start > body.length) throw badRequest(`the field at byte ${at} has neither a value nor a length`)
    const size = view.getBigUint64(lineEnd + 1, true)
    if (size > BigInt(body.length - start)) throw badRequest(`the field at byte ${at} ends beyond the body`)
    const end = start + Number(size)
    if (end < body.length && body[end] !== LINE_FEED) throw badRequest(`the field at byte ${at} does not end with a line feed`)
    yield fieldOf(at, lineEnd, start, end)
    at = end + 1
  }
}

/** The position of the sign behind the name of a field, -1 for none. The search ends with the line, or fields without it would be slow. */
function equalsIn(body: Uint8Array, start: number, lineEnd: number): number {
  const end = Math.min(lineEnd, start + NAME_BYTES_MAX + 1)
  for (let at = start; at < end; at += 1) if (body[at] === EQUALS) return at
  return -1
}

/** The end of the last complete entry, behind its blank line; 0 when there is none. A broken field is left to splitFields. */
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

/** Reads the entries of one body into the draft of its batches. The names of fields repeat, so each is interpreted once. */
export class JournalEntries {
  readonly #body: Uint8Array
  readonly #batches: Batches
  readonly #text: BodyText
  readonly #names: KeyNames<Role>
  /** The number of entries that had a cursor. */
  cursors = 0
  #hasMessage = false
  #hasCursor = false
  #time: string | undefined
  #dropped = 0
  #dataset: string | undefined
  #datasetRank = datasetFields.length

  constructor(body: Uint8Array, batches: Batches) {
    this.#body = body
    this.#batches = batches
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
  }

  /** Adds a field to the current entry. */
  add({ nameStart, nameEnd, start, end }: JournalField): void {
    const { draft } = this.#batches
    const { kind, key, isAttribute, rank } = this.#names.of(
      undefined,
      nameStart,
      nameEnd,
      hashOf(this.#body, nameStart, nameEnd),
      false,
    ).role
    if (kind === 'message') {
      draft.setRawAt(start, end)
      this.#hasMessage = true
      return
    }
    if (kind === 'time') {
      this.#time = this.#text.text(start, end)
      return
    }
    if (kind === 'priority') {
      const text = this.#text.text(start, end)
      draft.setLevel(severities[Number(text)] ?? text)
    }
    if (kind === 'cursor') this.#hasCursor = true
    if (rank >= 0 && rank < this.#datasetRank && end > start) {
      this.#dataset = this.#text.text(start, end)
      this.#datasetRank = rank
    }
    if (draft.keys.count + draft.attributes.count >= KEYS_MAX) this.#dropped += 1
    else if (isAttribute) draft.attributes.add(key, start, end)
    else draft.keys.add(key, start, end)
  }

  /** Ends the current entry, unless it has no fields. */
  end(): void {
    const { draft } = this.#batches
    const { keys, attributes } = draft
    if (!this.#hasMessage && this.#time === undefined && keys.count + attributes.count === 0) return
    if (this.#dropped > 0) attributes.addText('$journald.dropped_fields', String(this.#dropped))
    const us = /^\d{1,16}$/.test(this.#time ?? '') ? Number(this.#time) : undefined
    if (us !== undefined) draft.setTime({ ms: Math.floor(us / US_PER_MS), ns: (us % US_PER_MS) * NS_PER_US })
    else if (this.#time !== undefined) attributes.addText(ORIGINAL_TIME, this.#time)
    if (this.#hasCursor) this.cursors += 1
    this.#batches.take(this.#batches.of({ collection: undefined, dataset: this.#dataset?.replace(/\.service$/, '') }))
    this.begin()
  }

  begin(): void {
    this.#batches.draft.clear()
    this.#hasMessage = false
    this.#hasCursor = false
    this.#time = undefined
    this.#dropped = 0
    this.#dataset = undefined
    this.#datasetRank = datasetFields.length
  }
}
