import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader, OPEN_OBJECT } from '../json/reader.ts'
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
const HOST = '$host.name'
/** The parameters that describe the source, as attributes. */
const parameters: readonly (readonly [parameter: string, attribute: string])[] = [
  ['mac', '$host.mac'],
  ['ip', '$host.ip'],
  ['tags', '$tags'],
]

/** The members of the line that is being read with a meaning of their own. */
type Found = Readonly<Record<Exclude<Member, 'line' | 'other'>, MemberText>>

/** Reads `{"lines":[…]}`. The parameters of the address describe all lines; a line takes precedence. */
export const readLines = (body: Uint8Array, query: Readonly<Record<string, string>>): ParsedBody => new Lines(body, query).read()

class Lines {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #leaves: JsonLeaves<Member>
  readonly #found: Found
  readonly #query: Readonly<Record<string, string>>
  readonly #shared: readonly Pair[]
  readonly #batches: Batches
  #empty = 0

  constructor(body: Uint8Array, query: Readonly<Record<string, string>>) {
    this.#reader = new JsonReader(body)
    this.#batches = new Batches(body)
    this.#text = new BodyText(body)
    const names = new KeyNames<Member>(body, this.#text, (path) => members.get(path) ?? 'other')
    this.#leaves = new JsonLeaves(this.#reader, names, this.#text)
    const member = () => new MemberText(this.#reader, this.#text)
    this.#found = { time: member(), level: member(), app: member(), env: member(), file: member(), host: member() }
    this.#query = query
    this.#shared = parameters.flatMap(([parameter, attribute]): Pair[] => (query[parameter] ? [[attribute, query[parameter]]] : []))
  }

  read(): ParsedBody {
    const reader = this.#reader
    reader.openObject()
    while (reader.key()) {
      const name = this.#text.text(reader.start, reader.stop)
      if (name !== 'lines') reader.skip()
      else if (reader.openList()) {
        while (reader.element()) {
          if (reader.peek() === OPEN_OBJECT) this.#entry()
          else this.#other()
        }
      }
    }
    reader.finish()
    return this.#batches.parsed()
  }

  #entry(): void {
    const reader = this.#reader
    const { draft } = this.#batches
    const leaves = this.#leaves
    const found = this.#found
    reader.peek()
    const from = reader.at
    let hasLine = false
    let hasMembers = false
    // Set when a member has no key. The whole object then becomes the line, so that nothing is lost.
    let isWhole = false
    draft.clear()
    clear(found)
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      hasMembers = true
      if (role === 'line' && leaves.isString) {
        this.#batches.setLine(reader)
        hasLine = true
      } else if (path === '' || draft.keys.count >= KEYS_MAX) isWhole = true
      else if (role === 'other' || role === 'line') leaves.addTo(draft.keys, path)
      else found[role].note(leaves.isString)
    }
    if (!hasMembers) {
      this.#empty += 1
      if (this.#empty > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
      return
    }
    if (!hasLine || isWhole) {
      draft.setRawAt(from, reader.at)
      draft.keys.count = 0
    }
    this.#add(found)
  }

  /** Reads an element that is no object. */
  #other(): void {
    clear(this.#found)
    this.#batches.readOther(this.#reader, 'logdna')
    this.#add(this.#found)
  }

  #add({ time, level, app, env, file, host }: Found): void {
    const { draft } = this.#batches
    const { attributes } = draft
    if (time.isFound) this.#batches.setTimeAt(time)
    else this.#batches.setTime(this.#query.now)
    draft.setLevel(level.text())
    if (!host.isEmpty) host.addTo(attributes, HOST)
    else if (this.#query.hostname) attributes.addText(HOST, this.#query.hostname)
    if (!app.isEmpty) app.addTo(attributes, '$app')
    if (!env.isEmpty) env.addTo(attributes, '$env')
    if (!file.isEmpty) file.addTo(attributes, '$log.file.path')
    const table = this.#batches.of({ collection: env.text() || undefined, dataset: app.text() || undefined })
    this.#batches.take(table, this.#batches.sharedOf(this.#shared))
  }
}

function clear({ time, level, app, env, file, host }: Found): void {
  time.clear()
  level.clear()
  app.clear()
  env.clear()
  file.clear()
  host.clear()
}
