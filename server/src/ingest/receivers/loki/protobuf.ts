import { WireType } from '@bufbuild/protobuf/wire'
import { badRequest } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/event.ts'
import type { Pair } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { UnreadableRecord } from '../otlp/message.ts'
import { ProtobufReader } from '../otlp/protobuf-reader.ts'
import { readLabels } from './labels.ts'
import type { LokiEntry, PushRequest } from './push-request.ts'

const MS_PER_S = 1_000
const NS_PER_MS = 1_000_000
const NS_PER_S = 1_000_000_000
/** Later seconds are no time. */
const SECONDS_MAX = 2 ** 42
const NO_LINE = new Uint8Array()
const NONE: readonly Pair[] = []

type EntryTime = Pick<LokiEntry, 'time' | 'refused'>
const NO_TIME: EntryTime = { time: undefined, refused: NONE }

/** Reads a PushRequest: streams (1) of labels (1) and entries (2). */
export function readProtobufPush(body: Uint8Array, push: PushRequest): void {
  try {
    new ProtobufPush(body, push).read()
  } catch (thrown) {
    if (!(thrown instanceof UnreadableRecord)) throw thrown
    throw badRequest(`not valid protobuf: ${thrown.message}`, { cause: thrown })
  }
}

class ProtobufPush {
  readonly #reader: ProtobufReader
  readonly #text: BodyText
  readonly #push: PushRequest

  constructor(body: Uint8Array, push: PushRequest) {
    this.#reader = new ProtobufReader(body)
    this.#text = new BodyText(body)
    this.#push = push
  }

  read(): void {
    const reader = this.#reader
    while (reader.next()) {
      if (reader.field === 1) this.#stream()
      else reader.skip()
    }
  }

  #stream(): void {
    const reader = this.#reader
    const outer = this.#enter()
    let labels = ''
    const entries: LokiEntry[] = []
    this.#push.spend()
    while (reader.next()) {
      if (reader.field === 1) labels = this.#string()
      else if (reader.field === 2) entries.push(this.#entry())
      else reader.skip()
    }
    reader.end = outer
    this.#push.add(labels === '' ? [] : readLabels(labels), entries)
  }

  #entry(): LokiEntry {
    const reader = this.#reader
    const outer = this.#enter()
    let found: EntryTime = NO_TIME
    let line: Uint8Array = NO_LINE
    const metadata: Pair[] = []
    this.#push.spend()
    while (reader.next()) {
      if (reader.field === 1) found = this.#time()
      else if (reader.field === 2) line = this.#bytes()
      else if (reader.field === 3) metadata.push(this.#pair())
      else reader.skip()
    }
    reader.end = outer
    return { time: found.time, refused: found.refused, line, metadata }
  }

  #time(): EntryTime {
    const reader = this.#reader
    const outer = this.#enter()
    let [seconds, nanos] = [0, 0]
    while (reader.next()) {
      if (reader.wire !== WireType.Varint) reader.skip()
      else if (reader.field === 1) seconds = Number(reader.integer())
      else if (reader.field === 2) nanos = reader.uint32()
      else reader.skip()
    }
    reader.end = outer
    return timeOf(seconds, nanos)
  }

  #pair(): Pair {
    const reader = this.#reader
    const outer = this.#enter()
    let [name, value] = ['', '']
    this.#push.spend()
    while (reader.next()) {
      if (reader.field === 1) name = this.#string()
      else if (reader.field === 2) value = this.#string()
      else reader.skip()
    }
    reader.end = outer
    return [name, value]
  }

  /** Limits reading to the message of the current field and returns the end of the outer message. The types bound the depth. */
  #enter(): number {
    const outer = this.#reader.end
    this.#reader.end = this.#end()
    return outer
  }

  #bytes(): Uint8Array {
    const end = this.#end()
    const bytes = this.#reader.bytes.subarray(this.#reader.at, end)
    this.#reader.at = end
    return bytes
  }

  #string(): string {
    const end = this.#end()
    const text = this.#text.text(this.#reader.at, end)
    this.#reader.at = end
    return text
  }

  #end(): number {
    if (this.#reader.wire !== WireType.LengthDelimited) throw new UnreadableRecord(`field ${this.#reader.field} has the wrong wire type`)
    return this.#reader.length()
  }
}

function timeOf(seconds: number, nanos: number): EntryTime {
  if (seconds === 0 && nanos === 0) return NO_TIME
  if (seconds < 0 || seconds > SECONDS_MAX || nanos >= NS_PER_S) {
    return { time: undefined, refused: [[ORIGINAL_TIME, `${seconds}.${String(nanos).padStart(9, '0')}`]] }
  }
  return { time: { ms: seconds * MS_PER_S + Math.floor(nanos / NS_PER_MS), ns: nanos % NS_PER_MS }, refused: NONE }
}
