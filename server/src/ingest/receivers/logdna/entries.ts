import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches, RECORDS_MAX, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_ARRAY } from '../json/reader.ts'
import { unescapeBytes } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

/** Members with a meaning of their own; `other` members are fields. */
type Member = 'line' | 'time' | 'level' | 'app' | 'env' | 'file' | 'host' | 'other'
const members: ReadonlyMap<string, Member> = new Map<string, Member>([
  ['line', 'line'],
  ['timestamp', 'time'],
  ['level', 'level'],
  ['app', 'app'],
  ['env', 'env'],
  ['file', 'file'],
  ['host', 'host'],
  ['hostname', 'host'],
])
/** The members and parameters that describe the source, as attributes. */
const sources: readonly (readonly [Member, string])[] = [
  ['app', '$app'],
  ['env', '$env'],
  ['file', '$log.file.path'],
]
const HOST = '$host.name'
const parameters: readonly (readonly [parameter: string, attribute: string])[] = [
  ['mac', '$host.mac'],
  ['ip', '$host.ip'],
  ['tags', '$tags'],
]

type Found = {
  line: Uint8Array | undefined
  texts: Partial<Record<Member, string>>
  keys: Pair[]
  /** Set when a member has no key. The whole object then becomes the line, so that nothing is lost. */
  isWhole: boolean
}

/** Reads `{"lines":[…]}`. The parameters of the address describe all lines; a line takes precedence. */
export const readLines = (body: Uint8Array, query: Readonly<Record<string, string>>): ParsedBody => new Lines(body, query).read()

class Lines {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<Member>
  readonly #query: Readonly<Record<string, string>>
  readonly #shared: readonly Pair[]
  readonly #batches = new Batches()
  #empty = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, (path) => members.get(path) ?? 'other')
    this.#query = query
    this.#shared = parameters.flatMap(([parameter, attribute]): Pair[] => (query[parameter] ? [[attribute, query[parameter]]] : []))
  }

  read(): ParsedBody {
    const reader = this.#reader
    reader.openObject()
    while (reader.key()) {
      const name = this.#text.text(reader.start, reader.stop)
      if (name !== 'lines' || reader.peek() !== OPEN_ARRAY) reader.skip()
      else {
        reader.openArray()
        while (reader.element()) this.#entry()
      }
    }
    reader.finish()
    return this.#batches.parsed()
  }

  #entry(): void {
    const reader = this.#reader
    reader.peek()
    const from = reader.at
    const found: Found = { line: undefined, texts: {}, keys: [], isWhole: false }
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if (role === 'line' && leaves.isString) {
        const source = reader.bytes.subarray(reader.start, reader.stop)
        found.line = reader.escaped ? unescapeBytes(source) : source
      } else if (path === '' || found.keys.length >= KEYS_MAX) found.isWhole = true
      else if (role === 'other' || role === 'line') found.keys.push([path, leaves.text()])
      else found.texts[role] = leaves.text()
    }
    this.#add(found, reader.bytes.subarray(from, reader.at))
  }

  #add({ line, texts, keys, isWhole }: Found, whole: Uint8Array): void {
    const isEmpty = line === undefined && keys.length === 0 && !isWhole && Object.keys(texts).length === 0
    if (isEmpty) {
      this.#empty += 1
      if (this.#empty > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
      return
    }
    const { time, refused } = timeOf(texts.time ?? this.#query.now)
    const attributes: Pair[] = [...refused]
    const host = texts.host || this.#query.hostname
    if (host) attributes.push([HOST, host])
    for (const [member, attribute] of sources) {
      const text = texts[member]
      if (text) attributes.push([attribute, text])
    }
    const isLine = line !== undefined && !isWhole
    const record: ReceivedRecord = { raw: isLine ? line : whole, time, level: texts.level, keys: isLine ? keys : [], attributes }
    this.#batches.add(this.#batches.of({ collection: texts.env || undefined, dataset: texts.app || undefined }), record, this.#shared)
  }
}
