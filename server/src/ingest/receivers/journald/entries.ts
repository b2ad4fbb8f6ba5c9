import { badRequest } from '../../../kernel/errors.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { severities } from '../../detect/syslog.ts'
import { KEYS_MAX } from '../json/leaves.ts'

/** A field of an entry. */
export type JournalField = { name: string; value: Uint8Array }

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
      yield { name: nameOf(body, at, equals), value: body.subarray(equals + 1, lineEnd) }
      at = lineEnd + 1
      continue
    }
    const start = lineEnd + 1 + SIZE_BYTES
    if (start > body.length) throw badRequest(`the field at byte ${at} has neither a value nor a length`)
    const size = view.getBigUint64(lineEnd + 1, true)
    if (size > BigInt(body.length - start)) throw badRequest(`the field at byte ${at} ends beyond the body`)
    const end = start + Number(size)
    if (end < body.length && body[end] !== LINE_FEED) throw badRequest(`the field at byte ${at} does not end with a line feed`)
    yield { name: nameOf(body, at, lineEnd), value: body.subarray(start, end) }
    at = end + 1
  }
}

function nameOf(body: Uint8Array, start: number, end: number): string {
  if (end === start || end - start > NAME_BYTES_MAX)
    throw badRequest(`the field at byte ${start} has no name, or one of more than ${NAME_BYTES_MAX} bytes`)
  return textOf(body.subarray(start, end))
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')

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

/** The fields of one entry found so far. */
export class JournalEntry {
  #message: Uint8Array | undefined
  #time: string | undefined
  #priority: string | undefined
  #dropped = 0
  readonly #keys: Pair[] = []
  readonly #attributes: Pair[] = []
  readonly #datasets = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#message === undefined && this.#time === undefined && this.#keys.length + this.#attributes.length === 0
  }

  add({ name, value }: JournalField): void {
    if (name === 'MESSAGE') this.#message = value
    else if (name === '__REALTIME_TIMESTAMP') this.#time = textOf(value)
    else if (this.#keys.length + this.#attributes.length >= KEYS_MAX) this.#dropped += 1
    else this.#addText(name, textOf(value))
  }

  /** Fields with an underscore come from the journal, the others from the program. */
  #addText(name: string, text: string): void {
    if (name === 'PRIORITY') this.#priority = text
    if (datasetFields.includes(name)) this.#datasets.set(name, text)
    if (name.startsWith('_'))
      this.#attributes.push([attributeOfField.get(name) ?? `$journald.${name.replace(/^_+/, '').toLowerCase()}`, text])
    else this.#keys.push([name, text])
  }

  event(): { dataset: string | undefined; record: ReceivedRecord } {
    if (this.#dropped > 0) this.#attributes.push(['$journald.dropped_fields', String(this.#dropped)])
    const us = /^\d{1,16}$/.test(this.#time ?? '') ? Number(this.#time) : undefined
    const record: ReceivedRecord = {
      raw: this.#message ?? new Uint8Array(),
      time: us === undefined ? undefined : { ms: Math.floor(us / US_PER_MS), ns: (us % US_PER_MS) * NS_PER_US },
      level: this.#priority === undefined ? undefined : (severities[Number(this.#priority)] ?? this.#priority),
      keys: this.#keys,
      attributes: this.#attributes,
    }
    const dataset = datasetFields.map((name) => this.#datasets.get(name)).find((text) => text)
    return { dataset: dataset?.replace(/\.service$/, ''), record }
  }
}
