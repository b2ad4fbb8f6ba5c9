import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_ARRAY } from '../json/reader.ts'
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
  hasLine: boolean
  texts: Partial<Record<Member, string>>
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
  readonly #batches: Batches
  #empty = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#batches = new Batches(body)
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
    const { draft } = this.#batches
    reader.peek()
    const from = reader.at
    const found: Found = { hasLine: false, texts: {}, isWhole: false }
    draft.clear()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if (role === 'line' && leaves.isString) {
        this.#batches.setLine(reader)
        found.hasLine = true
      } else if (path === '' || draft.keys.count >= KEYS_MAX) found.isWhole = true
      else if (role === 'other' || role === 'line') leaves.addTo(draft.keys, path)
      else found.texts[role] = leaves.text()
    }
    this.#add(found, from)
  }

  #add({ hasLine, texts, isWhole }: Found, from: number): void {
    const { draft } = this.#batches
    const isEmpty = !hasLine && draft.keys.count === 0 && !isWhole && Object.keys(texts).length === 0
    if (isEmpty) {
      this.#empty += 1
      if (this.#empty > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
      return
    }
    this.#batches.setTime(texts.time ?? this.#query.now)
    draft.setLevel(texts.level)
    const host = texts.host || this.#query.hostname
    if (host) draft.attributes.addText(HOST, host)
    for (const [member, attribute] of sources) {
      const text = texts[member]
      if (text) draft.attributes.addText(attribute, text)
    }
    if (!hasLine || isWhole) {
      draft.setRawAt(from, this.#reader.at)
      draft.keys.count = 0
    }
    const table = this.#batches.of({ collection: texts.env || undefined, dataset: texts.app || undefined })
    this.#batches.take(table, this.#batches.sharedOf(this.#shared))
  }
}
