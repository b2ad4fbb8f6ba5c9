import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT } from '../json/reader.ts'
import { KeyNames } from '../names.ts'

/** The meaning of a member; `rank` orders those that name the dataset, best first. */
type Role = { use: 'message' | 'time' | 'level' | 'host' | 'none'; key: string; rank: number }
const uses: ReadonlyMap<string, Role['use']> = new Map<string, Role['use']>([
  ['message', 'message'],
  ['timestamp', 'time'],
  ['level', 'level'],
  ['log.level', 'level'],
  ['severity', 'level'],
  ['hostname', 'host'],
  ['host', 'host'],
])
const datasetNames: readonly string[] = ['service.name', 'service_name', 'service', 'entity.name', 'application', 'app', 'logtype']
const HOST = '$host.name'
const IN_ATTRIBUTES = 'attributes.'
const NONE = -1

/** A member has the same name in `attributes` as beside them. The time of an attribute is a field like any other. */
function roleOf(path: string): Role {
  const isInner = path.startsWith(IN_ATTRIBUTES)
  const key = isInner ? path.slice(IN_ATTRIBUTES.length) : path
  const use = uses.get(key) ?? 'none'
  return { use: isInner && use === 'time' ? 'none' : use, key, rank: datasetNames.indexOf(key) }
}

/** The members of an object: of one log, or of those that all logs of a block share. Its message and its keys are in the draft. */
class Members {
  readonly time: MemberText
  readonly level: MemberText
  readonly host: MemberText
  hasMessage = false
  dataset: string | undefined
  rank = datasetNames.length
  /** Counts members without a key. The whole log then becomes the line, so that nothing is lost. */
  dropped = 0

  constructor(reader: JsonReader, text: BodyText) {
    this.time = new MemberText(reader, text)
    this.level = new MemberText(reader, text)
    this.host = new MemberText(reader, text)
  }

  clear(): void {
    this.time.clear()
    this.level.clear()
    this.host.clear()
    this.hasMessage = false
    this.dataset = undefined
    this.rank = datasetNames.length
    this.dropped = 0
  }
}

/** What the logs of a block share, as their attributes. */
type Shared = { time: string | undefined; level: string | undefined; dataset: string | undefined; attributes: readonly Pair[] }
const NOTHING_SHARED: Shared = { time: undefined, level: undefined, dataset: undefined, attributes: [] }

/** Reads one log, several, or an array of them. A log is an object of its own, or in the `logs` of a block that has `common` members. */
export const readLogs = (body: Uint8Array): ParsedBody => new Logs(body).read()

class Logs {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #leaves: JsonLeaves<Role>
  readonly #found: Members
  readonly #batches: Batches
  #empty = 0

  constructor(body: Uint8Array) {
    this.#reader = new JsonReader(body)
    this.#batches = new Batches(body)
    this.#text = new BodyText(body)
    this.#leaves = new JsonLeaves(this.#reader, new KeyNames(body, this.#text, roleOf), this.#text)
    this.#found = new Members(this.#reader, this.#text)
  }

  read(): ParsedBody {
    this.#reader.records(
      () => this.#block(),
      () => this.#other(NOTHING_SHARED),
    )
    return this.#batches.parsed()
  }

  /** An object without `logs` is itself a log. Logs before the members that they share are read after them. */
  #block(): void {
    const reader = this.#reader
    reader.peek()
    const from = reader.at
    let shared = NOTHING_SHARED
    let waiting = NONE
    let isLog = true
    reader.openObject()
    while (reader.key()) {
      const name = this.#text.text(reader.start, reader.stop)
      const first = reader.peek()
      if (name === 'common' && first === OPEN_OBJECT) shared = this.#shared()
      else if (name === 'logs' && first === OPEN_ARRAY) {
        isLog = false
        if (shared !== NOTHING_SHARED) this.#logs(shared)
        else {
          waiting = reader.at
          reader.skip()
        }
      } else reader.skip()
    }
    const end = reader.at
    if (isLog) {
      reader.at = from
      this.#log(NOTHING_SHARED)
    } else if (waiting !== NONE) {
      reader.at = waiting
      this.#logs(shared)
    }
    reader.at = end
  }

  #logs(shared: Shared): void {
    this.#spend()
    this.#reader.openArray()
    while (this.#reader.element()) {
      if (this.#reader.peek() === OPEN_OBJECT) this.#log(shared)
      else this.#other(shared)
    }
  }

  #shared(): Shared {
    this.#members()
    const { time, level, host: written, dataset, dropped } = this.#found
    const attributes = this.#batches.draft.keys.pairs().map(([name, text]): Pair => [`$${name}`, text])
    const host = written.text()
    if (host) attributes.push([HOST, host])
    if (dropped > 0) attributes.push(['$newrelic.dropped_attributes', String(dropped)])
    return { time: time.text(), level: level.text(), dataset, attributes }
  }

  #log(shared: Shared): void {
    const reader = this.#reader
    reader.peek()
    const from = reader.at
    const { draft } = this.#batches
    this.#members()
    const { hasMessage, time, level, host, dataset, dropped } = this.#found
    if (time.isFound) this.#batches.setTimeAt(time)
    else this.#batches.setTime(shared.time)
    draft.setLevel(level.text() ?? shared.level)
    if (!host.isEmpty) host.addTo(draft.attributes, HOST)
    if (!hasMessage || dropped > 0) {
      draft.setRawAt(from, reader.at)
      draft.keys.count = 0
    }
    const table = this.#batches.of({ collection: undefined, dataset: dataset ?? shared.dataset })
    this.#batches.take(table, this.#batches.sharedOf(shared.attributes))
  }

  /** Reads an element that is no object. */
  #other({ time, level, dataset, attributes }: Shared): void {
    this.#batches.readOther(this.#reader, 'newrelic')
    this.#batches.setTime(time)
    this.#batches.draft.setLevel(level)
    this.#batches.take(this.#batches.of({ collection: undefined, dataset }), this.#batches.sharedOf(attributes))
  }

  /** Bounds blocks without logs. */
  #spend(): void {
    this.#empty += 1
    if (this.#empty > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} empty objects in one post`)
  }

  #members(): void {
    const { draft } = this.#batches
    const found = this.#found
    const leaves = this.#leaves
    draft.clear()
    found.clear()
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { use, key } = name.role
      if (use === 'message' && leaves.isString && !found.hasMessage) {
        this.#batches.setLine(this.#reader)
        found.hasMessage = true
      } else if (key === '' || draft.keys.count >= KEYS_MAX) found.dropped += 1
      else this.#addMember(found, name.role)
    }
  }

  /** Of two levels or hosts the first counts; all members but the time and the host stay fields. */
  #addMember(found: Members, { use, key, rank }: Role): void {
    const leaves = this.#leaves
    if (rank >= 0 && rank < found.rank) {
      const text = leaves.repeated()
      if (text !== '') {
        found.rank = rank
        found.dataset = text
      }
    }
    const isFirst = use !== 'none' && use !== 'message' && !found[use].isFound
    if (isFirst) found[use].note(leaves.isString)
    if (!isFirst || use === 'level') leaves.addTo(this.#batches.draft.keys, key)
  }
}
