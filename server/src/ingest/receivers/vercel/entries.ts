import { hash } from 'node:crypto'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches, timeOf } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
import { unescapeBytes } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

const COLLECTION = 'vercel'
const LINE_FEED = 0x0a
/** Members that describe the source of an event. */
const sourceNames: ReadonlySet<string> = new Set([
  'source',
  'projectId',
  'projectName',
  'deploymentId',
  'environment',
  'branch',
  'buildId',
  'executionRegion',
])

/** What a member means: some have a meaning for the whole event, besides being a field of it. */
type Role = { use: 'message' | 'time' | 'level' | 'id' | 'name' | 'project' | 'none'; isSource: boolean }
const uses: ReadonlyMap<string, Role['use']> = new Map<string, Role['use']>([
  ['message', 'message'],
  ['timestamp', 'time'],
  ['level', 'level'],
  ['id', 'id'],
  ['projectName', 'name'],
  ['projectId', 'project'],
])
const roleOf = (path: string): Role => ({ use: uses.get(path) ?? 'none', isSource: sourceNames.has(path) })

/** The members of one entry. Fields of their own are faster than a record of texts. */
class Entry {
  message: Uint8Array | undefined
  time: string | undefined
  level: string | undefined
  id: string | undefined
  name: string | undefined
  project: string | undefined
  readonly keys: Pair[] = []
  readonly attributes: Pair[] = []
  isWhole = false

  add({ use, isSource }: Role, path: string, text: string): void {
    if (use === 'time') this.time = text
    else if (use === 'level') this.level = text
    else {
      if (use === 'id') this.id = text
      else if (use === 'name') this.name = text
      else if (use === 'project') this.project = text
      if (isSource) this.attributes.push([`$${path}`, text])
      else this.keys.push([path, text])
    }
  }
}

/** Functions write the line end into their message. */
const withoutLineEnd = (message: Uint8Array): Uint8Array => (message.at(-1) === LINE_FEED ? message.subarray(0, -1) : message)

/** Reads an array of entries, or entries one after another. */
export function readDrain(body: Uint8Array): ParsedBody {
  return new DrainEntries(body).read()
}

class DrainEntries {
  readonly #body: Uint8Array
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<Role>
  readonly #batches = new Batches()
  readonly #ids: string[] = []

  constructor(body: Uint8Array) {
    this.#body = body
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, roleOf)
  }

  read(): ParsedBody {
    this.#reader.records(() => this.#entry())
    const parsed = this.#batches.parsed()
    // A drain repeats a post unchanged, so the ids of its entries identify it.
    const isNamed = parsed.total > 0 && this.#ids.length === parsed.total
    return isNamed ? { ...parsed, idempotencyKey: hash('sha256', this.#ids.join('\n')) } : parsed
  }

  #entry(): void {
    const reader = this.#reader
    reader.peek()
    const from = reader.at
    const entry = new Entry()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { path, role } = name
      if (role.use === 'message' && leaves.isString) {
        const source = this.#body.subarray(reader.start, reader.stop)
        entry.message = withoutLineEnd(reader.escaped ? unescapeBytes(source) : source)
      } else if (path === '' || entry.keys.length + entry.attributes.length >= KEYS_MAX) entry.isWhole = true
      else entry.add(role, path, leaves.text())
    }
    this.#add(entry, entry.message?.length && !entry.isWhole ? entry.message : this.#body.subarray(from, reader.at))
  }

  /** The message is the line; an entry without one is its own line. */
  #add(entry: Entry, raw: Uint8Array): void {
    const { time, refused } = timeOf(entry.time)
    for (const pair of refused) entry.attributes.push(pair)
    if (entry.id) this.#ids.push(entry.id)
    const record: ReceivedRecord = {
      raw,
      time,
      level: entry.level,
      keys: raw === entry.message ? entry.keys : [],
      attributes: entry.attributes,
    }
    const dataset = entry.name || entry.project || undefined
    this.#batches.add(this.#batches.of({ collection: COLLECTION, dataset }), record)
  }
}
