import { Failure } from '../../../kernel/errors.ts'
import type { FieldDraft } from '../../../lines/shredder/record-table.ts'
import type { Pair, ParsedBody } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
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

/** The members of the entry that is being read with a meaning of their own. */
class EntryMembers {
  readonly status: MemberText
  readonly time: MemberText
  readonly tags: MemberText
  readonly host: MemberText
  readonly service: MemberText
  readonly source: MemberText

  constructor(reader: JsonReader, text: BodyText) {
    const member = () => new MemberText(reader, text)
    this.status = member()
    this.time = member()
    this.tags = member()
    this.host = member()
    this.service = member()
    this.source = member()
  }

  clear(): void {
    this.status.clear()
    this.time.clear()
    this.tags.clear()
    this.host.clear()
    this.service.clear()
    this.source.clear()
  }
}

/** Reads the entries of one post. Its query describes all of them; an entry takes precedence. */
export class LogEntries {
  readonly #body: Uint8Array
  readonly #reader: JsonReader
  readonly #leaves: JsonLeaves<Member>
  readonly #found: EntryMembers
  readonly #query: Readonly<Record<string, string>>
  readonly #batches: Batches
  readonly #tags = new Map<string, TagList>()
  #checks = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#body = body
    this.#batches = new Batches(body)
    this.#reader = new JsonReader(body)
    const text = new BodyText(body)
    const names = new KeyNames<Member>(body, text, (path) => members.get(path) ?? 'other')
    this.#leaves = new JsonLeaves(this.#reader, names, text)
    this.#found = new EntryMembers(this.#reader, text)
    this.#query = query
  }

  /** Reads an array of objects, or objects one after another. An object without members is a check of the connection. */
  readObjects(): ParsedBody {
    this.#reader.records(
      () => this.#entry(),
      () => {
        this.#found.clear()
        this.#batches.readOther(this.#reader, 'datadog')
        this.#add()
      },
    )
    return this.#batches.parsed()
  }

  readLines(): ParsedBody {
    const { draft } = this.#batches
    for (const raw of splitLines(this.#body)) {
      draft.clear()
      draft.setRawAt(raw.byteOffset - this.#body.byteOffset, raw.byteOffset - this.#body.byteOffset + raw.length)
      this.#add()
    }
    return this.#batches.parsed()
  }

  #entry(): void {
    const { draft } = this.#batches
    const reader = this.#reader
    const leaves = this.#leaves
    const found = this.#found
    reader.peek()
    const from = reader.at
    let hasMembers = false
    let hasMessage = false
    // Set when a member has no key. The whole object then becomes the line, so that nothing is lost.
    let isWhole = false
    draft.clear()
    found.clear()
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      hasMembers = true
      if (role === 'message' && leaves.isString) {
        this.#batches.setLine(reader)
        hasMessage = true
      } else if (path === '' || draft.keys.count >= KEYS_MAX) isWhole = true
      else if (role === 'message' || role === 'other') leaves.addTo(draft.keys, path)
      else found[role].note(leaves.isString)
    }
    if (!hasMembers) {
      this.#checks += 1
      if (this.#checks > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
      return
    }
    if (!hasMessage || isWhole) {
      draft.setRawAt(from, reader.at)
      draft.keys.count = 0
    }
    this.#add()
  }

  /** Adds an entry. Its line is the message or the whole object. */
  #add(): void {
    const { status, time, tags: written, host, service, source } = this.#found
    const { draft } = this.#batches
    const query = this.#query
    const tags = this.#tagsOf(written.text())
    this.#batches.setTimeAt(time)
    const level = status.text()
    draft.setLevel(level === ANY_STATUS ? undefined : level)
    addSource(draft.attributes, '$host.name', host, query.hostname)
    addSource(draft.attributes, '$service.name', service, query.service)
    addSource(draft.attributes, '$source', source, query.ddsource)
    const dataset = service.text() || query.service || source.text() || query.ddsource
    const table = this.#batches.of({ collection: tags.environment, dataset })
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

/** Adds what an entry says about its source, else what the query says. */
function addSource(attributes: FieldDraft, path: string, own: MemberText, common: string | undefined): void {
  if (!own.isEmpty) own.addTo(attributes, path)
  else if (common) attributes.addText(path, common)
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
