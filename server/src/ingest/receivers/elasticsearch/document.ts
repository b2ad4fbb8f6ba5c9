import { Failure } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/event.ts'
import { parseTime } from '../../../lines/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { JsonLeaves, KEYS_MAX } from '../json/leaves.ts'
import { JsonReader } from '../json/reader.ts'
import { unescapeBytes, unescapeToText } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'

/** timeKeys, lineKeys and levelKeys are tried in order. */
const timeKeys: readonly string[] = ['@timestamp', 'timestamp', 'time']
const lineKeys: readonly string[] = ['message', 'log', 'MESSAGE']
const levelKeys: readonly string[] = ['log.level', 'level']
/** Values below these objects describe the source of an event. */
const sourceObjects: ReadonlySet<string> = new Set(['host', 'agent', 'cloud', 'container', 'kubernetes', 'orchestrator', 'input'])
const sourceKeys: ReadonlySet<string> = new Set(['log.file.path'])

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Bounds the memory of one post in a worker; senders answer 413 by sending less at a time. */
export const VALUES_MAX = 1_000_000

/** The meaning of a key: its position in each list, -1 when it is not in the list; other keys are in none. */
type Role = { time: number; line: number; level: number; isOther: boolean; attribute: string | undefined }

function roleOf(path: string): Role {
  const dot = path.indexOf('.')
  const isSource = sourceKeys.has(path) || (dot > 0 && sourceObjects.has(path.slice(0, dot)))
  const [time, line, level] = [timeKeys, lineKeys, levelKeys].map((keys) => keys.indexOf(path)) as [number, number, number]
  return { time, line, level, isOther: time < 0 && line < 0 && level < 0, attribute: isSource ? `$${path}` : undefined }
}

/** Reads the documents of one body as events. */
export class Documents {
  readonly #body: Uint8Array
  readonly #reader: JsonReader
  readonly #leaves: JsonLeaves<Role>
  #valuesLeft = VALUES_MAX

  constructor(body: Uint8Array) {
    this.#body = body
    this.#reader = new JsonReader(body)
    const text = new BodyText(body)
    this.#leaves = new JsonLeaves(this.#reader, new KeyNames(body, text, roleOf), text)
  }

  /** Reads the document between two positions. Anything but a JSON object is a Failure. */
  read(start: number, end: number): ReceivedRecord {
    const reader = this.#reader
    const leaves = this.#leaves
    reader.moveTo(start, end)
    reader.peek()
    const from = reader.at
    const found = new DocumentParts()
    leaves.open()
    for (let name = leaves.next(); name !== undefined; name = leaves.next()) {
      const { role, path } = name
      if (role.line >= 0 && leaves.isString) found.lines[role.line] = this.#body.subarray(reader.start, reader.stop)
      else if (path === '' || (found.pairs >= KEYS_MAX && role.isOther)) found.isWhole = true
      else found.add(role, path, leaves.text())
    }
    const to = reader.at
    reader.finish()
    this.#valuesLeft -= found.pairs
    if (this.#valuesLeft < 0) throw new Failure(413, `more than ${VALUES_MAX} values in one post`)
    return found.arrived(this.#body.subarray(from, to))
  }
}

/** The parts of a document found so far. */
class DocumentParts {
  /** The candidates for the line, still escaped. */
  readonly lines: (Uint8Array | undefined)[] = []
  pairs = 0
  /** Set when a part fits neither into the line nor into a key. The whole document then becomes the line, so that nothing is lost. */
  isWhole = false
  readonly #keys: Pair[] = []
  readonly #attributes: Pair[] = []
  readonly #times: (string | undefined)[] = []
  readonly #levels: (string | undefined)[] = []

  add(role: Role, path: string, text: string): void {
    this.pairs += 1
    if (role.level >= 0) this.#levels[role.level] = text
    if (role.time >= 0) this.#times[role.time] = text
    else if (role.attribute === undefined) this.#keys.push([path, text])
    else this.#attributes.push([role.attribute, text])
  }

  /** The event. Its line is the first candidate, else the document, which already contains the other keys. */
  arrived(document: Uint8Array): ReceivedRecord {
    const times = this.#times.map((text) => text && parseTime(text))
    const timeRank = times.findIndex((time) => time)
    const time = times[timeRank] || undefined
    const event = { time, level: this.#levels.find((level) => level !== undefined), attributes: this.#attributes }
    const lineRank = this.isWhole ? -1 : this.lines.findIndex((line) => line && line.length > 0)
    const line = this.lines[lineRank]
    if (line === undefined) return { raw: document, ...event, keys: [] }
    this.#keepOthers(timeRank, lineRank)
    const text = unescapeBytes(line)
    return { raw: lineKeys[lineRank] === 'log' ? withoutLineEnd(text) : text, ...event, keys: this.#keys }
  }

  /** Keeps the unused candidates for time and line as keys. */
  #keepOthers(timeRank: number, lineRank: number): void {
    const refused = timeRank < 0 ? this.#times.find((text) => text !== undefined) : undefined
    if (refused !== undefined) this.#attributes.push([ORIGINAL_TIME, refused])
    for (const [rank, text] of this.#times.entries()) {
      if (text !== undefined && rank !== timeRank && text !== refused) this.#keys.push([timeKeys[rank] ?? '', text])
    }
    for (const [rank, line] of this.lines.entries()) {
      if (line !== undefined && rank !== lineRank) this.#keys.push([lineKeys[rank] ?? '', unescapeToText(line)])
    }
  }
}

/** Container runtimes write the line's own line end into `log`. */
function withoutLineEnd(text: Uint8Array): Uint8Array {
  if (text.at(-1) !== LINE_FEED) return text
  return text.subarray(0, text.at(-2) === CARRIAGE_RETURN ? -2 : -1)
}
