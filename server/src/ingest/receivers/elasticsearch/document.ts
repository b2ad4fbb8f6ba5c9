import { Failure } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/reference/event.ts'
import type { RecordDraft } from '../../../lines/shredder/record-table.ts'
import type { Batches } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { MemberText } from '../json/member-text.ts'
import { JsonReader } from '../json/reader.ts'
import { KeyNames } from '../names.ts'
import { type ServiceRole, ServiceRoute, serviceRoleOf } from '../service-route.ts'

/** timeKeys, lineKeys and levelKeys are tried in order. */
const timeKeys: readonly string[] = ['@timestamp', 'timestamp', 'time']
const lineKeys: readonly string[] = ['message', 'log', 'MESSAGE']
const LOG = lineKeys.indexOf('log')
const levelKeys: readonly string[] = ['log.level', 'level']
/** Values below these objects describe the source of an event. */
const sourceObjects: ReadonlySet<string> = new Set(['host', 'agent', 'cloud', 'container', 'kubernetes', 'orchestrator', 'input'])
const sourceKeys: ReadonlySet<string> = new Set(['log.file.path'])

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Bounds the memory of one post in a worker; senders answer 413 by sending less at a time. */
export const VALUES_MAX = 1_000_000

/** The meaning of a key: its position in each list, -1 when it is not in the list; other keys are in none. */
type Role = { time: number; line: number; level: number; isOther: boolean; attribute: string | undefined; service: ServiceRole }

function roleOf(path: string): Role {
  const dot = path.indexOf('.')
  const isSource = sourceKeys.has(path) || (dot > 0 && sourceObjects.has(path.slice(0, dot)))
  const [time, line, level] = [timeKeys, lineKeys, levelKeys].map((keys) => keys.indexOf(path)) as [number, number, number]
  return {
    time,
    line,
    level,
    isOther: time < 0 && line < 0 && level < 0,
    attribute: isSource ? `$${path}` : undefined,
    service: serviceRoleOf(path),
  }
}

/** Reads the documents of one body into the draft of its batches. */
export class Documents {
  /** The service that the document names. */
  readonly service = new ServiceRoute()
  readonly #batches: Batches
  readonly #reader: JsonReader
  readonly #leaves: JsonLeaves<Role>
  readonly #found: DocumentParts
  #valuesLeft = VALUES_MAX

  constructor(body: Uint8Array, batches: Batches) {
    this.#batches = batches
    this.#reader = new JsonReader(body)
    const text = new BodyText(body)
    this.#leaves = new JsonLeaves(this.#reader, new KeyNames(body, text, roleOf), text)
    this.#found = new DocumentParts(this.#reader, text)
  }

  /** Reads the document between two positions. Anything but a JSON object is a Failure; the draft is not usable then. */
  read(start: number, end: number): void {
    const reader = this.#reader
    const leaves = this.#leaves
    const found = this.#found
    this.#batches.draft.clear()
    found.clear()
    this.service.clear()
    reader.moveTo(start, end)
    reader.peek()
    const from = reader.at
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if (role.line >= 0 && leaves.isString) (found.lines[role.line] as MemberText).note(true)
      else if (path === '' || (found.pairs >= KEYS_MAX && role.isOther)) found.isWhole = true
      else this.#add(role, path)
    }
    const to = reader.at
    reader.finish()
    this.#valuesLeft -= found.pairs
    if (this.#valuesLeft < 0) throw new Failure(413, `more than ${VALUES_MAX} values in one post`)
    this.#end(from, to)
  }

  #add({ time, level, attribute, service }: Role, path: string): void {
    const found = this.#found
    const leaves = this.#leaves
    const { draft } = this.#batches
    found.pairs += 1
    if (service !== undefined && leaves.isString) this.service.note(service, leaves.repeated())
    if (level >= 0) (found.levels[level] as MemberText).note(leaves.isString)
    if (time >= 0) (found.times[time] as MemberText).note(leaves.isString)
    else if (attribute === undefined) leaves.addTo(draft.keys, path)
    else leaves.addTo(draft.attributes, attribute)
  }

  /** The line is the first candidate that is not empty, else the document, which already contains the other keys. */
  #end(from: number, to: number): void {
    const { lines, levels, isWhole } = this.#found
    const { draft } = this.#batches
    const timeRank = this.#readTime()
    draft.setLevel(levels.find(({ isFound }) => isFound)?.text())
    const line = isWhole ? undefined : lines.find(({ isEmpty }) => !isEmpty)
    if (line === undefined) {
      draft.setRawAt(from, to)
      draft.keys.count = 0
      return
    }
    this.#keepOthers(timeRank, line)
    this.#batches.setLine(line)
    if (lines.indexOf(line) === LOG) trimLineEnd(draft)
  }

  /** Sets the time to the first candidate that is one and returns its rank, -1 for none. */
  #readTime(): number {
    const { draft } = this.#batches
    return this.#found.times.findIndex((time) => {
      if (time.isEmpty) return false
      if (!this.#batches.readTimeAt(time)) this.#batches.tryTime(time.text() ?? '')
      return !Number.isNaN(draft.ms)
    })
  }

  /** Keeps the unused candidates for time and line as keys. */
  #keepOthers(timeRank: number, line: MemberText): void {
    const { times, lines } = this.#found
    const { keys, attributes } = this.#batches.draft
    const refused = timeRank < 0 ? times.find(({ isFound }) => isFound)?.text() : undefined
    if (refused !== undefined) attributes.addText(ORIGINAL_TIME, refused)
    for (const [rank, time] of times.entries()) {
      if (time.isFound && rank !== timeRank && time.text() !== refused) time.addTo(keys, timeKeys[rank] as string)
    }
    for (const [rank, other] of lines.entries()) if (other.isFound && other !== line) other.addTo(keys, lineKeys[rank] as string)
  }
}

/** The parts found so far of the document that is being read, besides its fields. */
class DocumentParts {
  readonly times: readonly MemberText[]
  readonly lines: readonly MemberText[]
  readonly levels: readonly MemberText[]
  pairs = 0
  /** Set when a part fits neither into the line nor into a key. The whole document then becomes the line, so that nothing is lost. */
  isWhole = false

  constructor(reader: JsonReader, text: BodyText) {
    const members = (keys: readonly string[]): MemberText[] => keys.map(() => new MemberText(reader, text))
    this.times = members(timeKeys)
    this.lines = members(lineKeys)
    this.levels = members(levelKeys)
  }

  clear(): void {
    for (const member of this.times) member.clear()
    for (const member of this.lines) member.clear()
    for (const member of this.levels) member.clear()
    this.pairs = 0
    this.isWhole = false
  }
}

/** Container runtimes write the line's own line end into `log`. */
function trimLineEnd(draft: RecordDraft): void {
  const { rawEnd } = draft
  draft.trimRaw(LINE_FEED)
  if (draft.rawEnd !== rawEnd) draft.trimRaw(CARRIAGE_RETURN)
}
