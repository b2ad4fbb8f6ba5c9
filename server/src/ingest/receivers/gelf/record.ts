import type { Batches, JsonText } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
import { unescapeToText } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

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

/** The parts of a message found so far, besides its fields. */
type GelfMessage = {
  short: JsonText | undefined
  full: JsonText | undefined
  pairs: number
  /** Set when a part has no key. The whole message then becomes the line, so that nothing is lost. */
  isWhole: boolean
  host: string | undefined
  time: string | undefined
  dataset: string | undefined
  datasetRank: number
}

/** Reads the messages of one body into the draft of its batches. */
export class GelfRecords {
  readonly #body: Uint8Array
  readonly #batches: Batches
  readonly #text: BodyText
  readonly #names: KeyNames<Role>

  constructor(body: Uint8Array, batches: Batches) {
    this.#body = body
    this.#batches = batches
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
  }

  /** Reads the message between two positions and returns the dataset that it names. Anything but a JSON object is a Failure. */
  read(start: number, end: number): string | undefined {
    const reader = new JsonReader(this.#body, start, end)
    const dataset = this.readNext(reader)
    reader.finish()
    return dataset
  }

  /** Reads the next value of a reader of the same body. */
  readNext(reader: JsonReader): string | undefined {
    reader.peek()
    const from = reader.at
    const { draft } = this.#batches
    const found: GelfMessage = {
      short: undefined,
      full: undefined,
      pairs: 0,
      isWhole: false,
      host: undefined,
      time: undefined,
      dataset: undefined,
      datasetRank: NO_RANK,
    }
    draft.clear()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if ((role.field === 'short' || role.field === 'full') && leaves.isString) {
        found[role.field] = { start: reader.start, stop: reader.stop, escaped: reader.escaped }
      } else if (path === '' || found.pairs >= KEYS_MAX) found.isWhole = true
      else this.#add(found, role, leaves)
    }
    this.#batches.setTime(found.time)
    if (found.host) draft.attributes.addText('$host.name', found.host)
    this.#setLine(found, from, reader.at)
    return (found.dataset ?? found.host)?.replace(/^\/+/, '') || undefined
  }

  #add(found: GelfMessage, { field, key, isAttribute, rank }: Role, leaves: JsonLeaves<Role>): void {
    const { draft } = this.#batches
    found.pairs += 1
    if (rank >= 0 && (found.datasetRank === NO_RANK || rank < found.datasetRank)) {
      const text = leaves.text()
      if (text !== '') {
        found.dataset = text
        found.datasetRank = rank
      }
    }
    if (field === 'time') found.time = leaves.text()
    else if (field === 'level') {
      const text = leaves.text()
      draft.setLevel(levels[Number(text)] ?? text)
    } else if (field === 'host') found.host = leaves.text()
    else if (isAttribute) leaves.addTo(draft.attributes, key)
    else if (field !== 'version') leaves.addTo(draft.keys, key)
  }

  /** The line is the full message, else the short one, else the message as JSON, which contains the keys. */
  #setLine({ short, full, isWhole }: GelfMessage, from: number, to: number): void {
    const { draft } = this.#batches
    const line = full && full.stop > full.start ? full : short
    if (isWhole || line === undefined) {
      draft.setRawAt(from, to)
      return
    }
    this.#batches.setLine(line)
    if (line === short || !short || short.stop === short.start) return
    if (short.escaped) draft.keys.addText('message', unescapeToText(this.#body.subarray(short.start, short.stop)))
    else draft.keys.add('message', short.start, short.stop)
  }
}
