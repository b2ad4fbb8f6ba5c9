import { Failure } from '../../../kernel/errors.ts'
import type { ParsedBody } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader, OPEN_OBJECT } from '../json/reader.ts'
import { type KeyName, KeyNames } from '../names.ts'
import { EntryIds } from './entry-ids.ts'

const PROTOCOL = 'vercel'
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

/** Reads an array of entries, or entries one after another. A broken one among lines of entries is kept as text. */
export function readDrain(body: Uint8Array): ParsedBody {
  try {
    return new DrainEntries(body).read()
  } catch (thrown) {
    const lines = thrown instanceof Failure && thrown.status === 400 ? new DrainEntries(body).readLines() : undefined
    if (lines === undefined) throw thrown
    return lines
  }
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
    this.#reader.records(
      () => this.#read(),
      () => {
        this.#batches.readOther(this.#reader, PROTOCOL)
        this.#endOther()
      },
    )
    return this.#parsed()
  }

  /** Reads each line by itself; undefined when none is an entry. */
  readLines(): ParsedBody | undefined {
    const { bytes } = this.#reader
    let entries = 0
    for (const line of splitLines(bytes)) {
      const start = line.byteOffset - bytes.byteOffset
      const end = start + line.length
      if (this.#isEntry(start, end)) {
        entries += 1
        this.#read()
      } else {
        this.#batches.setOther(start, end, PROTOCOL)
        this.#endOther()
      }
    }
    return entries > 0 ? this.#parsed() : undefined
  }

  /** Whether one object, and nothing else, lies between two positions. The reader is at its beginning then. */
  #isEntry(start: number, end: number): boolean {
    const reader = this.#reader
    reader.moveTo(start, end)
    if (reader.peek() !== OPEN_OBJECT) return false
    try {
      reader.skip()
      reader.finish()
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return false
    }
    reader.moveTo(start, end)
    return true
  }

  #endOther(): void {
    clear(this.#entry)
    this.#end(this.#entry)
  }

  #parsed(): ParsedBody {
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
