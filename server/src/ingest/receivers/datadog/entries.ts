import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches, RECORDS_MAX, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader, OPEN_ARRAY } from '../json/reader.ts'
import { unescapeBytes } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

/** Members with a meaning of their own; `other` members are what the application logged. */
type Member = 'message' | 'status' | 'time' | 'tags' | 'host' | 'service' | 'source' | 'other'
const members: ReadonlyMap<string, Member> = new Map<string, Member>([
  ['message', 'message'],
  ['status', 'status'],
  ['timestamp', 'time'],
  ['date', 'time'],
  ['ddtags', 'tags'],
  ['hostname', 'host'],
  ['service', 'service'],
  ['ddsource', 'source'],
])
const TAGS_MAX = 1_000
const COMMA = 0x2c

type Found = {
  message: Uint8Array | undefined
  texts: Partial<Record<Member, string>>
  keys: Pair[]
  /** Set when a member has no key. The whole object then becomes the line, so that nothing is lost. */
  isWhole: boolean
}

/** Reads the entries of one post. Its query describes all of them; an entry takes precedence. */
export class LogEntries {
  readonly #body: Uint8Array
  readonly #text: BodyText
  readonly #names: KeyNames<Member>
  readonly #query: Readonly<Record<string, string>>
  readonly #batches = new Batches()
  readonly #tags = new Map<string, TagList>()
  #checks = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#body = body
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, (path) => members.get(path) ?? 'other')
    this.#query = query
  }

  /** Reads an array of objects, or objects one after another. An object without members is a check of the connection. */
  readObjects(): ParsedBody {
    const reader = new JsonReader(this.#body)
    for (let byte = reader.peek(); byte >= 0; byte = reader.peek()) {
      if (byte !== OPEN_ARRAY) this.#entry(reader)
      else {
        reader.openArray()
        while (reader.element()) this.#entry(reader)
      }
      if (reader.peek() === COMMA) reader.at += 1
    }
    return this.#batches.parsed()
  }

  readLines(): ParsedBody {
    for (const raw of splitLines(this.#body)) this.#add({ message: raw, texts: {}, keys: [], isWhole: false }, raw)
    return this.#batches.parsed()
  }

  #entry(reader: JsonReader): void {
    reader.peek()
    const from = reader.at
    const found: Found = { message: undefined, texts: {}, keys: [], isWhole: false }
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if (role === 'message' && leaves.isString) {
        const source = this.#body.subarray(reader.start, reader.stop)
        found.message = reader.escaped ? unescapeBytes(source) : source
      } else if (path === '' || found.keys.length >= KEYS_MAX) found.isWhole = true
      else if (role === 'other' || role === 'message') found.keys.push([path, leaves.text()])
      else found.texts[role] = leaves.text()
    }
    const isNothing = found.message === undefined && found.keys.length === 0 && Object.keys(found.texts).length === 0 && !found.isWhole
    if (isNothing) this.#checks += 1
    if (this.#checks > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
    if (!isNothing) this.#add(found, this.#body.subarray(from, reader.at))
  }

  #add({ message, texts, keys, isWhole }: Found, whole: Uint8Array): void {
    const { time, refused } = timeOf(texts.time)
    const service = texts.service || this.#query.service
    const source = texts.source || this.#query.ddsource
    const host = texts.host || this.#query.hostname
    const tags = this.#tagsOf([this.#query.ddtags, texts.tags].filter((text) => text).join(','))
    const attributes: Pair[] = [...tags.pairs, ...refused]
    if (host) attributes.push(['$host.name', host])
    if (service) attributes.push(['$service.name', service])
    if (source) attributes.push(['$source', source])
    const isLine = message !== undefined && !isWhole
    const record: ReceivedRecord = { raw: isLine ? message : whole, time, level: texts.status, keys: isLine ? keys : [], attributes }
    this.#batches.add(this.#batches.of({ collection: tags.environment, dataset: service || source }), record)
  }

  /** Tags repeat from entry to entry, so each text is read once. */
  #tagsOf(text: string): TagList {
    const known = this.#tags.get(text)
    if (known) return known
    const read = readTags(text)
    if (this.#tags.size >= TAGS_MAX) this.#tags.clear()
    this.#tags.set(text, read)
    return read
  }
}

type TagList = { pairs: readonly Pair[]; environment: string | undefined }

/** Reads `env:prod,team:shop`. A tag without a value is `true`. */
function readTags(text: string): TagList {
  const pairs: Pair[] = []
  for (const part of text.split(',', TAGS_MAX)) {
    const tag = part.trim()
    const mark = tag.indexOf(':')
    if (tag === '' || mark === 0) continue
    pairs.push(mark < 0 ? [`$${tag}`, 'true'] : [`$${tag.slice(0, mark)}`, tag.slice(mark + 1)])
  }
  return { pairs, environment: pairs.find(([name]) => name === '$env')?.[1] || undefined }
}
