import type { ParsedBody } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader } from '../json/reader.ts'
import { type KeyName, KeyNames } from '../names.ts'
import { EntryIds } from './entry-ids.ts'

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

/** The members of the entry that is being read with a meaning for the whole event. */
type Entry = Readonly<Record<'time' | 'level' | 'id' | 'name' | 'project', MemberText>>

/** Reads an array of entries, or entries one after another. */
export function readDrain(body: Uint8Array): ParsedBody {
  return new DrainEntries(body).read()
}

class DrainEntries {
  readonly #reader: JsonReader
  readonly #leaves: JsonLeaves<Role>
  readonly #entry: Entry
  readonly #batches: Batches
  readonly #ids: EntryIds

  constructor(body: Uint8Array) {
    this.#batches = new Batches(body)
    this.#reader = new JsonReader(body)
    this.#ids = new EntryIds(this.#batches.memory.view)
    const text = new BodyText(body)
    this.#leaves = new JsonLeaves(this.#reader, new KeyNames(body, text, roleOf), text)
    const member = () => new MemberText(this.#reader, text)
    this.#entry = { time: member(), level: member(), id: member(), name: member(), project: member() }
  }

  read(): ParsedBody {
    this.#reader.records(() => this.#read())
    const parsed = this.#batches.parsed()
    // A drain repeats a post unchanged, so the ids of its entries identify it.
    const isNamed = parsed.total > 0 && this.#ids.count === parsed.total
    return isNamed ? { ...parsed, idempotencyKey: this.#ids.hash() } : parsed
  }

  #read(): void {
    const reader = this.#reader
    const leaves = this.#leaves
    const entry = this.#entry
    const { draft } = this.#batches
    reader.peek()
    const from = reader.at
    let hasMessage = false
    // Set when a member has no key. The whole object then becomes the line, so that nothing is lost.
    let isWhole = false
    draft.clear()
    clear(entry)
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { path, role } = name
      if (role.use === 'message' && leaves.isString) {
        this.#batches.setLine(reader)
        draft.trimRaw(LINE_FEED)
        hasMessage = draft.rawStart !== draft.rawEnd
      } else if (path === '' || draft.keys.count + draft.attributes.count >= KEYS_MAX) isWhole = true
      else this.#add(entry, name, leaves)
    }
    // The message is the line; an entry without one is its own line.
    if (!hasMessage || isWhole) {
      draft.setRawAt(from, reader.at)
      draft.keys.count = 0
    }
    this.#end(entry)
  }

  #add(entry: Entry, { path, role: { use, attribute } }: KeyName<Role>, leaves: JsonLeaves<Role>): void {
    const { keys, attributes } = this.#batches.draft
    if (use === 'time' || use === 'level') {
      entry[use].note(leaves.isString)
      return
    }
    if (use === 'id' || use === 'name' || use === 'project') entry[use].note(leaves.isString)
    if (attribute !== undefined) leaves.addTo(attributes, attribute)
    else leaves.addTo(keys, path)
  }

  #end({ time, level, id, name, project }: Entry): void {
    const batches = this.#batches
    batches.setTimeAt(time)
    batches.draft.setLevel(level.text())
    if (!id.isEmpty) this.#ids.add(id)
    batches.take(batches.of({ collection: COLLECTION, dataset: name.text() || project.text() || undefined }))
  }
}

function clear({ time, level, id, name, project }: Entry): void {
  time.clear()
  level.clear()
  id.clear()
  name.clear()
  project.clear()
}
