import { severityWord } from '../../detect/syslog.ts'
import type { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import type { JsonReader } from '../json/reader.ts'
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

type Role = { field: Field; key: string; isAttribute: boolean; rank: number }

/** The underscore before additional fields is no part of their names. */
function roleOf(path: string): Role {
  const attribute = attributeOfField.get(path)
  const key = attribute ?? (path.length > 1 && path.startsWith('_') ? path.slice(1) : path)
  return { field: fields.get(path) ?? 'other', key, isAttribute: attribute !== undefined, rank: datasetFields.indexOf(path) }
}

/** The parts found so far of the message that is being read, besides its fields. */
class GelfMessage {
  readonly short: MemberText
  readonly full: MemberText
  readonly host: MemberText
  readonly time: MemberText
  pairs = 0
  /** Set when a part has no key. The whole message then becomes the line, so that nothing is lost. */
  isWhole = false
  dataset: string | undefined
  datasetRank = NO_RANK

  constructor(reader: JsonReader, text: BodyText) {
    this.short = new MemberText(reader, text)
    this.full = new MemberText(reader, text)
    this.host = new MemberText(reader, text)
    this.time = new MemberText(reader, text)
  }

  clear(): void {
    this.short.clear()
    this.full.clear()
    this.host.clear()
    this.time.clear()
    this.pairs = 0
    this.isWhole = false
    this.dataset = undefined
    this.datasetRank = NO_RANK
  }
}

/** Reads the messages of one body into the draft of its batches. */
export class GelfRecords {
  readonly #reader: JsonReader
  readonly #batches: Batches
  readonly #leaves: JsonLeaves<Role>
  readonly #found: GelfMessage

  constructor(reader: JsonReader, batches: Batches) {
    this.#reader = reader
    this.#batches = batches
    const text = new BodyText(reader.bytes)
    this.#leaves = new JsonLeaves(reader, new KeyNames(reader.bytes, text, roleOf), text)
    this.#found = new GelfMessage(reader, text)
  }

  /** Reads the message between two positions and returns the dataset that it names. Anything but a JSON object is a Failure. */
  read(start: number, end: number): string | undefined {
    const reader = this.#reader
    reader.moveTo(start, end)
    const dataset = this.readNext()
    reader.finish()
    return dataset
  }

  /** Reads the next value of the reader. */
  readNext(): string | undefined {
    const reader = this.#reader
    const leaves = this.#leaves
    const found = this.#found
    const { draft } = this.#batches
    reader.peek()
    const from = reader.at
    draft.clear()
    found.clear()
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if ((role.field === 'short' || role.field === 'full') && leaves.isString) {
        found[role.field].note(true)
      } else if (path === '' || found.pairs >= KEYS_MAX) found.isWhole = true
      else this.#add(found, role)
    }
    const { time, host } = found
    this.#batches.setTimeAt(time)
    if (!host.isEmpty) host.addTo(draft.attributes, '$host.name')
    this.#setLine(found, from, reader.at)
    const dataset = found.dataset ?? host.text()
    return (dataset?.startsWith('/') ? dataset.replace(/^\/+/, '') : dataset) || undefined
  }

  #add(found: GelfMessage, { field, key, isAttribute, rank }: Role): void {
    const { draft } = this.#batches
    const leaves = this.#leaves
    found.pairs += 1
    if (rank >= 0 && (found.datasetRank === NO_RANK || rank < found.datasetRank)) {
      const text = leaves.repeated()
      if (text !== '') {
        found.dataset = text
        found.datasetRank = rank
      }
    }
    if (field === 'time' || field === 'host') found[field].note(leaves.isString)
    else if (field === 'level') {
      draft.setLevel(severityWord(leaves.repeated()))
    } else if (isAttribute) leaves.addTo(draft.attributes, key)
    else if (field !== 'version') leaves.addTo(draft.keys, key)
  }

  /** The line is the full message, else the short one, else the message as JSON, which contains the keys. */
  #setLine({ short, full, isWhole }: GelfMessage, from: number, to: number): void {
    const { draft } = this.#batches
    const line = full.isEmpty ? short : full
    if (isWhole || !line.isFound) {
      draft.setRawAt(from, to)
      return
    }
    this.#batches.setLine(line)
    if (line === full && !short.isEmpty) short.addTo(draft.keys, 'message')
  }
}
