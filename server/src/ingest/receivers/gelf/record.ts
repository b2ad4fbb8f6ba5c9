import { ORIGINAL_TIME } from '../../../lines/event.ts'
import { parseTime } from '../../../lines/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
import { unescapeBytes, unescapeToText } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

/** A message as an event, and the dataset that it names. */
export type GelfRecord = { record: ReceivedRecord; dataset: string | undefined }

/** The fields of the format with a meaning of their own; `other` fields become keys. */
type Field = 'version' | 'host' | 'short' | 'full' | 'time' | 'level' | 'other'
const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['version', 'version'],
  ['host', 'host'],
  ['short_message', 'short'],
  ['full_message', 'full'],
  ['timestamp', 'time'],
  ['level', 'level'],
])

/** Fields that container engines add describe the source of a message. */
const attributeOfField: ReadonlyMap<string, string> = new Map([
  ['_container_id', '$container.id'],
  ['_container_name', '$container.name'],
  ['_image_id', '$container.image.id'],
  ['_image_name', '$container.image.name'],
  ['_command', '$container.command'],
  ['_created', '$container.created'],
  ['_tag', '$container.tag'],
])

/** The fields that name the dataset, best first. The last resort is the host. */
const datasetFields: readonly string[] = ['_service', '_container_name', 'facility', '_program', '_facility']
const NO_RANK = -1

const levels = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug']

type Role = { field: Field; key: string; isAttribute: boolean; rank: number }

/** The underscore before additional fields is no part of their names. */
function roleOf(path: string): Role {
  const attribute = attributeOfField.get(path)
  const key = attribute ?? (path.length > 1 && path.startsWith('_') ? path.slice(1) : path)
  return { field: fields.get(path) ?? 'other', key, isAttribute: attribute !== undefined, rank: datasetFields.indexOf(path) }
}

/** Reads the messages of one body. */
export class GelfRecords {
  readonly #body: Uint8Array
  readonly #text: BodyText
  readonly #names: KeyNames<Role>

  constructor(body: Uint8Array) {
    this.#body = body
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
  }

  /** Reads the message between two positions. Anything but a JSON object is a Failure. */
  read(start: number, end: number): GelfRecord {
    const reader = new JsonReader(this.#body, start, end)
    const record = this.readNext(reader)
    reader.finish()
    return record
  }

  /** Reads the next value of a reader of the same body. */
  readNext(reader: JsonReader): GelfRecord {
    reader.peek()
    const from = reader.at
    const found = new GelfMessage()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if (role.field === 'short' && leaves.isString) found.short = this.#body.subarray(reader.start, reader.stop)
      else if (role.field === 'full' && leaves.isString) found.full = this.#body.subarray(reader.start, reader.stop)
      else if (path === '' || found.pairs >= KEYS_MAX) found.isWhole = true
      else found.add(role, leaves.text())
    }
    return found.event(() => this.#body.subarray(from, reader.at))
  }
}

/** The parts of a message found so far. */
class GelfMessage {
  /** Texts are still escaped. */
  short: Uint8Array | undefined
  full: Uint8Array | undefined
  pairs = 0
  /** Set when a part has no key. The whole message then becomes the line, so that nothing is lost. */
  isWhole = false
  readonly #keys: Pair[] = []
  readonly #attributes: Pair[] = []
  #host: string | undefined
  #time: string | undefined
  #level: string | undefined
  #dataset: string | undefined
  #datasetRank = NO_RANK

  add({ field, key, isAttribute, rank }: Role, text: string): void {
    this.pairs += 1
    if (rank >= 0 && text !== '' && (this.#datasetRank === NO_RANK || rank < this.#datasetRank)) {
      this.#dataset = text
      this.#datasetRank = rank
    }
    if (field === 'time') this.#time = text
    else if (field === 'level') this.#level = levels[Number(text)] ?? text
    else if (field === 'host') this.#host = text
    else if (isAttribute) this.#attributes.push([key, text])
    else if (field !== 'version') this.#keys.push([key, text])
  }

  /** The line is the full message, else the short one, else the message as JSON, which contains the keys. */
  event(message: () => Uint8Array): GelfRecord {
    const time = this.#time === undefined ? undefined : parseTime(this.#time)
    if (this.#time !== undefined && !time) this.#attributes.push([ORIGINAL_TIME, this.#time])
    if (this.#host) this.#attributes.push(['$host.name', this.#host])
    const dataset = (this.#dataset ?? this.#host)?.replace(/^\/+/, '') || undefined
    const raw = this.#line(message)
    return { record: { raw, time, level: this.#level, keys: this.#keys, attributes: this.#attributes }, dataset }
  }

  #line(message: () => Uint8Array): Uint8Array {
    if (this.isWhole) return message()
    const line = this.full?.length ? this.full : this.short
    if (line === undefined) return message()
    if (line !== this.short && this.short?.length) this.#keys.push(['message', unescapeToText(this.short)])
    return unescapeBytes(line)
  }
}
