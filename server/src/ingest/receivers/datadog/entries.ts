import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches, RECORDS_MAX, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
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

/** The members of one entry. Fields of their own are faster than a record of texts. */
class Found {
  message: Uint8Array | undefined
  status: string | undefined
  time: string | undefined
  tags: string | undefined
  host: string | undefined
  service: string | undefined
  source: string | undefined
  readonly keys: Pair[] = []
  /** Set when a member has no key. The whole object then becomes the line, so that nothing is lost. */
  isWhole = false
  /** False for an object without members. */
  hasMembers = false

  set(member: Member, path: string, text: string): void {
    if (member === 'status') this.status = text
    else if (member === 'time') this.time = text
    else if (member === 'tags') this.tags = text
    else if (member === 'host') this.host = text
    else if (member === 'service') this.service = text
    else if (member === 'source') this.source = text
    else this.keys.push([path, text])
  }
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
    reader.records(() => this.#entry(reader))
    return this.#batches.parsed()
  }

  readLines(): ParsedBody {
    for (const raw of splitLines(this.#body)) {
      const found = new Found()
      found.message = raw
      this.#add(found, raw)
    }
    return this.#batches.parsed()
  }

  #entry(reader: JsonReader): void {
    reader.peek()
    const from = reader.at
    const found = new Found()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      found.hasMembers = true
      if (role === 'message' && leaves.isString) {
        const source = this.#body.subarray(reader.start, reader.stop)
        found.message = reader.escaped ? unescapeBytes(source) : source
      } else if (path === '' || found.keys.length >= KEYS_MAX) found.isWhole = true
      else found.set(role, path, leaves.text())
    }
    if (found.hasMembers) this.#add(found, found.message && !found.isWhole ? found.message : this.#body.subarray(from, reader.at))
    else {
      this.#checks += 1
      if (this.#checks > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
    }
  }

  /** Adds an entry with its line, which is the message or the whole object. */
  #add(found: Found, raw: Uint8Array): void {
    const { time, refused } = timeOf(found.time)
    const service = found.service || this.#query.service
    const source = found.source || this.#query.ddsource
    const host = found.host || this.#query.hostname
    const tags = this.#tagsOf(found.tags)
    const attributes: Pair[] = refused.slice()
    if (host) attributes.push(['$host.name', host])
    if (service) attributes.push(['$service.name', service])
    if (source) attributes.push(['$source', source])
    const keys = raw === found.message ? found.keys : []
    const record: ReceivedRecord = { raw, time, level: found.status, keys, attributes }
    this.#batches.add(this.#batches.of({ collection: tags.environment, dataset: service || source }), record, tags.pairs)
  }

  /** The tags of the post and of an entry. They repeat from entry to entry, so each text is read once. */
  #tagsOf(text = ''): TagList {
    const known = this.#tags.get(text)
    if (known) return known
    const common = this.#query.ddtags
    const read = readTags(common && text ? `${common},${text}` : common || text)
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
