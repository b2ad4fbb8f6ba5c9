import { WireType } from '@bufbuild/protobuf/wire'
import { badRequest } from '../../../kernel/errors.ts'
import { ORIGINAL_TIME } from '../../../lines/event.ts'
import type { Instant } from '../../../lines/time-text.ts'
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
    this.#fields((field) => (field === 1 ? this.#within(() => this.#stream()) : this.#reader.skip()))
  }

  #stream(): void {
    this.#push.spend()
    let labels = ''
    const entries: LokiEntry[] = []
    this.#fields((field) => {
      if (field === 1) labels = this.#string()
      else if (field === 2) entries.push(this.#within(() => this.#entry()))
      else this.#reader.skip()
    })
    this.#push.add(labels === '' ? [] : readLabels(labels), entries)
  }

  #entry(): LokiEntry {
    this.#push.spend()
    let stamp = { seconds: 0, nanos: 0, isLate: false }
    let line: Uint8Array = new Uint8Array()
    const metadata: Pair[] = []
    this.#fields((field) => {
      if (field === 1) stamp = this.#within(() => this.#timestamp())
      else if (field === 2) line = this.#bytes()
      else if (field === 3) metadata.push(this.#within(() => this.#pair()))
      else this.#reader.skip()
    })
    return { ...timeOfStamp(stamp), line, metadata }
  }

  #timestamp(): { seconds: number; nanos: number; isLate: boolean } {
    const reader = this.#reader
    const stamp = { seconds: 0, nanos: 0, isLate: false }
    this.#fields((field) => {
      if ((field !== 1 && field !== 2) || reader.wire !== WireType.Varint) {
        reader.skip()
        return
      }
      if (field === 2) stamp.nanos = reader.uint32()
      else {
        stamp.seconds = Number(reader.integer())
        stamp.isLate = stamp.seconds < 0 || stamp.seconds > SECONDS_MAX
      }
    })
    return stamp
  }

  #pair(): Pair {
    this.#push.spend()
    let [name, value] = ['', '']
    this.#fields((field) => {
      if (field === 1) name = this.#string()
      else if (field === 2) value = this.#string()
      else this.#reader.skip()
    })
    return [name, value]
  }

  #fields(read: (field: number) => void): void {
    while (this.#reader.next()) read(this.#reader.field)
  }

  /** Reads a message up to its end. The nesting of the message types bounds the depth. */
  #within<T>(read: () => T): T {
    const reader = this.#reader
    const outer = reader.end
    reader.end = this.#end()
    const found = read()
    reader.end = outer
    return found
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

function timeOfStamp({ seconds, nanos, isLate }: { seconds: number; nanos: number; isLate: boolean }): {
  time: Instant | undefined
  refused: readonly Pair[]
} {
  if (seconds === 0 && nanos === 0) return { time: undefined, refused: [] }
  if (isLate || nanos >= NS_PER_S) return { time: undefined, refused: [[ORIGINAL_TIME, `${seconds}.${String(nanos).padStart(9, '0')}`]] }
  return { time: { ms: seconds * MS_PER_S + Math.floor(nanos / NS_PER_MS), ns: nanos % NS_PER_MS }, refused: [] }
}
