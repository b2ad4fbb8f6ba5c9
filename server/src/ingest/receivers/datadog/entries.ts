import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
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
/** The agent sends it with every line of a file or of standard output, so a level in the line counts more. */
const ANY_STATUS = 'info'

/** The members of one entry with a meaning of their own. */
type Found = {
  [member in Exclude<Member, 'message' | 'other'>]: string | undefined
} & {
  hasMessage: boolean
  /** Set when a member has no key. The whole object then becomes the line, so that nothing is lost. */
  isWhole: boolean
  /** False for an object without members. */
  hasMembers: boolean
}
const nothingFound = (): Found => ({
  status: undefined,
  time: undefined,
  tags: undefined,
  host: undefined,
  service: undefined,
  source: undefined,
  hasMessage: false,
  isWhole: false,
  hasMembers: false,
})

/** Reads the entries of one post. Its query describes all of them; an entry takes precedence. */
export class LogEntries {
  readonly #body: Uint8Array
  readonly #text: BodyText
  readonly #names: KeyNames<Member>
  readonly #query: Readonly<Record<string, string>>
  readonly #batches: Batches
  readonly #tags = new Map<string, TagList>()
  #checks = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#body = body
    this.#batches = new Batches(body)
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
    const { draft } = this.#batches
    for (const raw of splitLines(this.#body)) {
      draft.clear()
      draft.setRawAt(raw.byteOffset - this.#body.byteOffset, raw.byteOffset - this.#body.byteOffset + raw.length)
      this.#add(nothingFound())
    }
    return this.#batches.parsed()
  }

  #entry(reader: JsonReader): void {
    const { draft } = this.#batches
    reader.peek()
    const from = reader.at
    const found = nothingFound()
    draft.clear()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      found.hasMembers = true
      if (role === 'message' && leaves.isString) {
        this.#batches.setLine(reader)
        found.hasMessage = true
      } else if (path === '' || draft.keys.count >= KEYS_MAX) found.isWhole = true
      else if (role === 'message' || role === 'other') leaves.addTo(draft.keys, path)
      else found[role] = leaves.text()
    }
    if (!found.hasMembers) {
      this.#checks += 1
      if (this.#checks > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
      return
    }
    if (!found.hasMessage || found.isWhole) {
      draft.setRawAt(from, reader.at)
      draft.keys.count = 0
    }
    this.#add(found)
  }

  /** Adds an entry. Its line is the message or the whole object. */
  #add(found: Found): void {
    const { draft } = this.#batches
    const service = found.service || this.#query.service
    const source = found.source || this.#query.ddsource
    const host = found.host || this.#query.hostname
    const tags = this.#tagsOf(found.tags)
    this.#batches.setTime(found.time)
    draft.setLevel(found.status === ANY_STATUS ? undefined : found.status)
    if (host) draft.attributes.addText('$host.name', host)
    if (service) draft.attributes.addText('$service.name', service)
    if (source) draft.attributes.addText('$source', source)
    const table = this.#batches.of({ collection: tags.environment, dataset: service || source })
    this.#batches.take(table, this.#batches.sharedOf(tags.pairs))
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
