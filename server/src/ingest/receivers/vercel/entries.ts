import { hash } from 'node:crypto'
import type { ParsedBody } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
import { type KeyName, KeyNames } from '../names.ts'

const COLLECTION = 'vercel'
/** Functions write the line end into their message. */
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
type Role = { use: 'message' | 'time' | 'level' | 'id' | 'name' | 'project' | 'none'; attribute: string | undefined }
const uses: ReadonlyMap<string, Role['use']> = new Map<string, Role['use']>([
  ['message', 'message'],
  ['timestamp', 'time'],
  ['level', 'level'],
  ['id', 'id'],
  ['projectName', 'name'],
  ['projectId', 'project'],
])
const roleOf = (path: string): Role => ({ use: uses.get(path) ?? 'none', attribute: sourceNames.has(path) ? `$${path}` : undefined })

/** The members of one entry with a meaning for the whole event. */
type Entry = {
  hasMessage: boolean
  time: string | undefined
  level: string | undefined
  id: string | undefined
  name: string | undefined
  project: string | undefined
  /** Set when a member has no key. The whole object then becomes the line, so that nothing is lost. */
  isWhole: boolean
}

/** Reads an array of entries, or entries one after another. */
export function readDrain(body: Uint8Array): ParsedBody {
  return new DrainEntries(body).read()
}

class DrainEntries {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<Role>
  readonly #batches: Batches
  readonly #ids: string[] = []

  constructor(body: Uint8Array) {
    this.#batches = new Batches(body)
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
    const { draft } = this.#batches
    reader.peek()
    const from = reader.at
    const entry: Entry = {
      hasMessage: false,
      time: undefined,
      level: undefined,
      id: undefined,
      name: undefined,
      project: undefined,
      isWhole: false,
    }
    draft.clear()
    const leaves = new JsonLeaves(reader, this.#names, this.#text)
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { path, role } = name
      if (role.use === 'message' && leaves.isString) {
        this.#batches.setLine(reader)
        draft.trimRaw(LINE_FEED)
        entry.hasMessage = draft.rawStart !== draft.rawEnd
      } else if (path === '' || draft.keys.count + draft.attributes.count >= KEYS_MAX) entry.isWhole = true
      else this.#add(entry, name, leaves)
    }
    this.#end(entry, from)
  }

  #add(entry: Entry, { path, role: { use, attribute } }: KeyName<Role>, leaves: JsonLeaves<Role>): void {
    const { keys, attributes } = this.#batches.draft
    if (use === 'time' || use === 'level') {
      entry[use] = leaves.text()
      return
    }
    if (use === 'id' || use === 'name' || use === 'project') entry[use] = leaves.text()
    if (attribute !== undefined) leaves.addTo(attributes, attribute)
    else leaves.addTo(keys, path)
  }

  /** The message is the line; an entry without one is its own line. */
  #end(entry: Entry, from: number): void {
    const { draft } = this.#batches
    this.#batches.setTime(entry.time)
    draft.setLevel(entry.level)
    if (!entry.hasMessage || entry.isWhole) {
      draft.setRawAt(from, this.#reader.at)
      draft.keys.count = 0
    }
    if (entry.id) this.#ids.push(entry.id)
    this.#batches.take(this.#batches.of({ collection: COLLECTION, dataset: entry.name || entry.project || undefined }))
  }
}
