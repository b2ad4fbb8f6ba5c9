import { DEPTH_MAX } from '../../../lines/reference/walk.ts'
import { type Instant, parseTime } from '../../../lines/values/time-text.ts'
import type { Pair, ReceivedRecord } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { KEYS_MAX } from '../json/leaves.ts'
import { hashOf, type KeyName, KeyNames } from '../names.ts'
import { type ServiceRole, ServiceRoute, serviceRoleOf } from '../service-route.ts'
import { ARRAY, BINARY, EXTENSION, MAP, MsgpackReader, msgpackJson, msgpackText, NIL, NUMBER, TEXT } from './msgpack.ts'

/** An entry as an event, and the container that it names. */
export type ForwardRecord = { record: ReceivedRecord; container: string | undefined; service: ServiceRoute }

const EVENT_TIME = 0
const EVENT_TIME_BYTES = 8
const NS_PER_MS = 1_000_000
const SECONDS_MAX = 1e11
const WITH_FRACTION = /^\d+\.\d+$/

/** The keys of the line, best first. */
export const lineKeys: readonly string[] = ['message', 'log', 'MESSAGE']
export const LOG = lineKeys.indexOf('log')
const CONTAINER = 'kubernetes.container_name'
const SOURCE = /^(?:kubernetes\.|docker\.|container_|source$)/
const NO_LINE = -1

export type ForwardRole = { line: number; attribute: string | undefined; isContainer: boolean; service: ServiceRole }
const roleOf = (path: string): ForwardRole => ({
  line: lineKeys.indexOf(path),
  attribute: SOURCE.test(path) ? `$${path}` : undefined,
  isContainer: path === CONTAINER,
  service: serviceRoleOf(path),
})

/** Reads the entries of one body. */
export class ForwardRecords {
  readonly #reader: MsgpackReader
  readonly #text: BodyText
  readonly names: KeyNames<ForwardRole>

  constructor(reader: MsgpackReader) {
    this.#reader = reader
    this.#text = new BodyText(reader.bytes)
    this.names = new KeyNames(reader.bytes, this.#text, roleOf)
  }

  /** Reads `[time, record]` or `[[time, metadata], record]` after the head of the entry. */
  entry(): ForwardRecord {
    const reader = this.#reader
    if (reader.kind !== ARRAY || reader.length !== 2) throw reader.fail('an entry is not a time and a record')
    const metadata: Pair[] = []
    let time: Instant | undefined
    if (reader.next() === ARRAY) {
      let left = reader.length
      if (left > 0) {
        reader.next()
        time = entryTime(reader)
        left -= 1
      }
      for (; left > 0; left -= 1)
        if (reader.next() === MAP) this.#pairs('$', metadata, undefined, 1)
        else reader.skipRest()
    } else time = entryTime(reader)
    return this.record(time, metadata)
  }

  /** Reads a record. */
  record(time: Instant | undefined, metadata: readonly Pair[]): ForwardRecord {
    const reader = this.#reader
    const from = reader.at
    if (reader.next() !== MAP) throw reader.fail('a record is not a map')
    const found = new RecordParts()
    this.#members(found, undefined, 1)
    const line = found.isWhole ? undefined : found.line()
    const raw = line ? reader.bytes.subarray(line.start, line.stop) : this.#json(from)
    const attributes = metadata.length === 0 ? found.attributes : [...metadata, ...found.attributes]
    const keys = line ? [...found.keys, ...found.otherLines(reader.bytes)] : []
    return {
      record: { raw: line?.rank === LOG ? withoutLineEnd(raw) : raw, time, level: undefined, keys, attributes },
      container: found.container,
      service: found.service,
    }
  }

  time(): Instant | undefined {
    return entryTime(this.#reader)
  }

  #members(found: RecordParts, around: KeyName<ForwardRole> | undefined, depth: number): void {
    const reader = this.#reader
    for (let left = reader.length; left > 0; left -= 1) {
      const name = this.#name(around)
      const kind = reader.next()
      if (kind === NIL) continue
      if (kind === MAP && depth < DEPTH_MAX) {
        this.#members(found, name, depth + 1)
        continue
      }
      const { role, path } = name
      if (role.line >= 0 && (kind === TEXT || kind === BINARY)) found.lines[role.line] = { start: reader.start, stop: reader.stop }
      else if (path === '' || found.keys.length + found.attributes.length >= KEYS_MAX) {
        found.isWhole = true
        reader.skipRest()
      } else {
        if (role.service !== undefined && (kind === TEXT || kind === BINARY)) found.service.note(role.service, this.#value())
        found.add(role, path, this.#value())
      }
    }
  }

  #pairs(prefix: string, pairs: Pair[], around: KeyName<ForwardRole> | undefined, depth: number): void {
    const reader = this.#reader
    for (let left = reader.length; left > 0; left -= 1) {
      const name = this.#name(around)
      const kind = reader.next()
      if (kind === NIL) continue
      if (kind === MAP && depth < DEPTH_MAX) this.#pairs(prefix, pairs, name, depth + 1)
      else if (name.path === '' || pairs.length >= KEYS_MAX) reader.skipRest()
      else pairs.push([prefix + name.path, this.#value()])
    }
  }

  #name(around: KeyName<ForwardRole> | undefined): KeyName<ForwardRole> {
    const reader = this.#reader
    const kind = reader.next()
    if (kind !== TEXT && kind !== BINARY) throw reader.fail('the name of a value is no text')
    return this.names.of(around, reader.start, reader.stop, hashOf(reader.bytes, reader.start, reader.stop), false)
  }

  #value(): string {
    const reader = this.#reader
    return reader.kind === TEXT || reader.kind === BINARY ? this.#text.text(reader.start, reader.stop) : msgpackText(reader)
  }

  #json(from: number): Uint8Array {
    const again = new MsgpackReader(this.#reader.bytes, from, this.#reader.at)
    again.next()
    return Buffer.from(msgpackJson(again))
  }
}

/** Reads a time whose head was read: seconds, or seconds and nanoseconds. */
export function entryTime(reader: MsgpackReader): Instant | undefined {
  if (reader.kind === EXTENSION && reader.type === EVENT_TIME && reader.stop - reader.start === EVENT_TIME_BYTES) {
    const nanos = reader.bytes.readUInt32BE(reader.start + 4)
    return { ms: reader.bytes.readUInt32BE(reader.start) * 1_000 + Math.floor(nanos / NS_PER_MS), ns: nanos % NS_PER_MS }
  }
  if (reader.kind !== NUMBER) {
    reader.skipRest()
    return undefined
  }
  const seconds = Number(reader.text)
  if (!(seconds > 0 && seconds < SECONDS_MAX)) return undefined
  // Multiplied by a thousand, a fraction would lose its microseconds.
  return WITH_FRACTION.test(reader.text) ? parseTime(reader.text) : { ms: Math.floor(seconds * 1_000), ns: 0 }
}

/** The parts of a record found so far. */
class RecordParts {
  readonly keys: Pair[] = []
  readonly attributes: Pair[] = []
  /** The candidates for the line. */
  readonly lines: ({ start: number; stop: number } | undefined)[] = []
  container: string | undefined
  readonly service = new ServiceRoute()
  /** Set when a part has no key. The whole record then becomes the line, so that nothing is lost. */
  isWhole = false

  add({ attribute, isContainer }: ForwardRole, path: string, text: string): void {
    if (isContainer) this.container = text
    if (attribute === undefined) this.keys.push([path, text])
    else this.attributes.push([attribute, text])
  }

  line(): { rank: number; start: number; stop: number } | undefined {
    const rank = this.lines.findIndex((line) => line !== undefined)
    const found = this.lines[rank]
    return rank === NO_LINE || !found ? undefined : { rank, ...found }
  }

  /** Further candidates for the line stay keys. */
  otherLines(bytes: Buffer): Pair[] {
    const first = this.line()?.rank
    return this.lines.flatMap((line, rank): Pair[] =>
      line === undefined || rank === first ? [] : [[lineKeys[rank] ?? '', bytes.toString('utf8', line.start, line.stop)]],
    )
  }
}

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]

/** Container runtimes write the line's own line end into `log`. */
function withoutLineEnd(text: Uint8Array): Uint8Array {
  if (text.at(-1) !== LINE_FEED) return text
  return text.subarray(0, text.at(-2) === CARRIAGE_RETURN ? -2 : -1)
}
