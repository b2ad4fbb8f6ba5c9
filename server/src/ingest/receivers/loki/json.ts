import { ORIGINAL_TIME } from '../../../lines/event.ts'
import { parseTime } from '../../../lines/time-text.ts'
import type { Pair } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT } from '../json/reader.ts'
import { readBytes, readText } from '../json/texts.ts'
import { unescapeToText } from '../json/unescape.ts'
import { nanoInstant } from '../otlp/message.ts'
import { readLabels } from './labels.ts'
import type { LokiEntry, PushRequest } from './push-request.ts'

/** Reads `{"streams":[{"stream":{…},"values":[[time, line, metadata]]}]}`, and the older form with `labels` and `entries`. */
export function readJsonPush(body: Uint8Array, push: PushRequest): void {
  new JsonPush(body, push).read()
}

class JsonPush {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #push: PushRequest

  constructor(body: Uint8Array, push: PushRequest) {
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#push = push
  }

  read(): void {
    const reader = this.#reader
    reader.openObject()
    while (reader.key()) {
      if (this.#name() !== 'streams' || reader.peek() !== OPEN_ARRAY) reader.skip()
      else {
        reader.openArray()
        while (reader.element()) this.#stream()
      }
    }
    reader.finish()
  }

  #stream(): void {
    const reader = this.#reader
    this.#push.spend()
    let labels: readonly Pair[] = []
    const entries: LokiEntry[] = []
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      const isArray = reader.peek() === OPEN_ARRAY
      if (name === 'stream' && reader.peek() === OPEN_OBJECT) labels = this.#pairs()
      else if (name === 'labels' && !isArray) labels = readLabels(readText(reader, this.#text))
      else if (name === 'values' && isArray) {
        reader.openArray()
        while (reader.element()) entries.push(this.#value())
      } else if (name === 'entries' && isArray) {
        reader.openArray()
        while (reader.element()) entries.push(this.#entry())
      } else reader.skip()
    }
    this.#push.add(labels, entries)
  }

  #name(): string {
    return this.#text.text(this.#reader.start, this.#reader.stop)
  }

  /** Reads `[time, line, metadata]`. */
  #value(): LokiEntry {
    const reader = this.#reader
    this.#push.spend()
    reader.openArray()
    if (!reader.element()) throw reader.fail('an entry has no time')
    const written = readText(reader, this.#text)
    if (!reader.element()) throw reader.fail('an entry has no line')
    const line = readBytes(reader)
    let metadata = NONE
    while (reader.element()) {
      if (reader.peek() === OPEN_OBJECT) metadata = this.#pairs()
      else reader.skip()
    }
    return entryOf(written, line, metadata)
  }

  /** Reads `{"ts": …, "line": …}`. */
  #entry(): LokiEntry {
    const reader = this.#reader
    this.#push.spend()
    let written = ''
    let line: Uint8Array = new Uint8Array()
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      if (name === 'ts') written = readText(reader, this.#text)
      else if (name === 'line') line = readBytes(reader)
      else reader.skip()
    }
    return entryOf(written, line, NONE)
  }

  /** Reads an object of texts. Nested values stay JSON. */
  #pairs(): Pair[] {
    const reader = this.#reader
    const pairs: Pair[] = []
    reader.openObject()
    while (reader.key()) {
      const { start, stop, escaped } = reader
      const name = escaped ? unescapeToText(reader.bytes.subarray(start, stop)) : this.#text.text(start, stop)
      this.#push.spend()
      pairs.push([name, readText(reader, this.#text)])
    }
    return pairs
  }
}

const NONE: readonly Pair[] = []
const NANOSECONDS = /^\d{1,19}$/

function entryOf(written: string, line: Uint8Array, metadata: readonly Pair[]): LokiEntry {
  const time = NANOSECONDS.test(written) ? nanoInstant(written) : parseTime(written)
  return { time, refused: time || written === '' ? NONE : [[ORIGINAL_TIME, written]], line, metadata }
}
