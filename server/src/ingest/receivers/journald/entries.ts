import { badRequest } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/event.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { severities } from '../../detect/syslog.ts'
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
    const equals = body.indexOf(EQUALS, at)
    if (equals >= 0 && equals < lineEnd) {
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
type Role = { kind: 'message' | 'time' | 'priority' | 'other'; key: string; isAttribute: boolean; rank: number }

const kinds: ReadonlyMap<string, Role['kind']> = new Map<string, Role['kind']>([
  ['MESSAGE', 'message'],
  ['__REALTIME_TIMESTAMP', 'time'],
  ['PRIORITY', 'priority'],
])

/** Fields with an underscore come from the journal, the others from the program. */
function roleOf(name: string): Role {
  const isAttribute = name.startsWith('_')
  const key = isAttribute ? (attributeOfField.get(name) ?? `$journald.${name.replace(/^_+/, '').toLowerCase()}`) : name
  return { kind: kinds.get(name) ?? 'other', key, isAttribute, rank: datasetFields.indexOf(name) }
}

/** Reads the fields of one body. Their names repeat, so each is interpreted once. */
export class JournalFields {
  readonly #body: Uint8Array
  readonly #text: BodyText
  readonly #names: KeyNames<Role>

  constructor(body: Uint8Array) {
    this.#body = body
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
  }

  addTo(entry: JournalEntry, { nameStart, nameEnd, start, end }: JournalField): void {
    const { role } = this.#names.of(undefined, nameStart, nameEnd, hashOf(this.#body, nameStart, nameEnd), false)
    if (role.kind === 'message') entry.message = this.#body.subarray(start, end)
    else entry.add(role, this.#text.text(start, end))
  }
}

/** The fields of one entry found so far. */
export class JournalEntry {
  message: Uint8Array | undefined
  #time: string | undefined
  #priority: string | undefined
  #dropped = 0
  readonly #keys: Pair[] = []
  readonly #attributes: Pair[] = []
  #dataset: string | undefined
  #datasetRank = datasetFields.length

  get isEmpty(): boolean {
    return this.message === undefined && this.#time === undefined && this.#keys.length + this.#attributes.length === 0
  }

  add({ kind, key, isAttribute, rank }: Role, text: string): void {
    if (kind === 'time') {
      this.#time = text
      return
    }
    if (kind === 'priority') this.#priority = text
    if (rank >= 0 && rank < this.#datasetRank && text !== '') {
      this.#dataset = text
      this.#datasetRank = rank
    }
    if (this.#keys.length + this.#attributes.length >= KEYS_MAX) this.#dropped += 1
    else if (isAttribute) this.#attributes.push([key, text])
    else this.#keys.push([key, text])
  }

  event(): { dataset: string | undefined; record: ReceivedRecord } {
    if (this.#dropped > 0) this.#attributes.push(['$journald.dropped_fields', String(this.#dropped)])
    const us = /^\d{1,16}$/.test(this.#time ?? '') ? Number(this.#time) : undefined
    if (us === undefined && this.#time !== undefined) this.#attributes.push([ORIGINAL_TIME, this.#time])
    const record: ReceivedRecord = {
      raw: this.message ?? new Uint8Array(),
      time: us === undefined ? undefined : { ms: Math.floor(us / US_PER_MS), ns: (us % US_PER_MS) * NS_PER_US },
      level: this.#priority === undefined ? undefined : (severities[Number(this.#priority)] ?? this.#priority),
      keys: this.#keys,
      attributes: this.#attributes,
    }
    return { dataset: this.#dataset?.replace(/\.service$/, ''), record }
  }
}
