import { WireType } from '@bufbuild/protobuf/wire'
import { badRequest } from '../../../kernel/errors.ts'
import { BodyText } from '../body-text.ts'
import { hashOf, KeyNames } from '../names.ts'
import { UnreadableRecord } from '../otlp/message.ts'
import { ProtobufReader } from '../otlp/protobuf-reader.ts'
import { readLabels } from './labels.ts'
import type { PushRequest } from './push-request.ts'

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
  readonly #names: KeyNames<undefined>
  readonly #push: PushRequest

  constructor(body: Uint8Array, push: PushRequest) {
    this.#reader = new ProtobufReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, () => undefined)
    this.#push = push
  }

  read(): void {
    const reader = this.#reader
    while (reader.next()) {
      if (reader.field === 1) this.#stream()
      else reader.skip()
    }
  }

  /** Reads the labels first, wherever they are, since they say where the entries go. */
  #stream(): void {
    const reader = this.#reader
    const outer = this.#enter()
    const start = reader.at
    let labels = ''
    this.#push.spend()
    while (reader.next()) {
      if (reader.field === 1) labels = this.#string()
      else reader.skip()
    }
    this.#push.begin(labels === '' ? [] : readLabels(labels))
    reader.at = start
    while (reader.next()) {
      if (reader.field === 2) this.#entry()
      else reader.skip()
    }
    reader.end = outer
  }

  #entry(): void {
    const reader = this.#reader
    const outer = this.#enter()
    let refused: string | undefined
    this.#push.spend()
    this.#push.beginEntry()
    while (reader.next()) {
      if (reader.field === 1) refused = this.#time()
      else if (reader.field === 2) {
        const end = this.#end()
        this.#push.batches.draft.setRawAt(reader.at, end)
        reader.at = end
      } else if (reader.field === 3) this.#pair()
      else reader.skip()
    }
    reader.end = outer
    this.#push.endEntry(refused)
  }

  /** Sets the time of the entry, or returns the text of one that is none. */
  #time(): string | undefined {
    const reader = this.#reader
    const { draft } = this.#push.batches
    const outer = this.#enter()
    let [seconds, nanos] = [0, 0]
    while (reader.next()) {
      if (reader.wire !== WireType.Varint) reader.skip()
      else if (reader.field === 1) seconds = reader.whole()
      else if (reader.field === 2) nanos = reader.uint32()
      else reader.skip()
    }
    reader.end = outer
    draft.setTime(undefined)
    if (seconds === 0 && nanos === 0) return undefined
    if (seconds < 0 || seconds > SECONDS_MAX || nanos >= NS_PER_S) return `${seconds}.${String(nanos).padStart(9, '0')}`
    draft.ms = seconds * MS_PER_S + Math.floor(nanos / NS_PER_MS)
    draft.ns = nanos % NS_PER_MS
    return undefined
  }

  #pair(): void {
    const reader = this.#reader
    const outer = this.#enter()
    let name = ''
    let [start, end] = [0, 0]
    this.#push.spend()
    while (reader.next()) {
      if (reader.field === 1) name = this.#name()
      else if (reader.field === 2) {
        end = this.#end()
        start = reader.at
        reader.at = end
      } else reader.skip()
    }
    reader.end = outer
    this.#push.addAt(name, start, end)
  }

  /** A name, as one string for all pairs that have it. */
  #name(): string {
    const { bytes } = this.#reader
    const end = this.#end()
    const start = this.#reader.at
    this.#reader.at = end
    return this.#names.of(undefined, start, end, hashOf(bytes, start, end), false).path || this.#text.text(start, end)
  }

  /** Limits reading to the message of the current field and returns the end of the outer message. The types bound the depth. */
  #enter(): number {
    const outer = this.#reader.end
    this.#reader.end = this.#end()
    return outer
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
