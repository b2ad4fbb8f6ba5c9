import { parseTime } from '../../../lines/values/time-text.ts'
import type { Pair } from '../../batch.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_OBJECT, QUOTE } from '../json/reader.ts'
import { readText } from '../json/texts.ts'
import { unescapeToText } from '../json/unescape.ts'
import { KeyNames } from '../names.ts'
import { nanoInstant } from '../otlp/message.ts'
import { readLabels } from './labels.ts'
import type { PushRequest } from './push-request.ts'

/** Reads `{"streams":[{"stream":{…},"values":[[time, line, metadata]]}]}`, and the older form with `labels` and `entries`. */
export function readJsonPush(body: Uint8Array, push: PushRequest): void {
  new JsonPush(body, push).read()
}

class JsonPush {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #names: KeyNames<undefined>
  readonly #push: PushRequest

  constructor(body: Uint8Array, push: PushRequest) {
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#names = new KeyNames(body, this.#text, () => undefined)
    this.#push = push
  }

  read(): void {
    const reader = this.#reader
    reader.openObject()
    while (reader.key()) {
      if (this.#name() !== 'streams') reader.skip()
      else if (reader.openList()) while (reader.element()) this.#stream()
    }
    reader.finish()
  }

  /** Entries in front of the labels are read after them, since the labels say where they go. */
  #stream(): void {
    const reader = this.#reader
    this.#push.spend()
    let labels: readonly Pair[] | undefined
    const waiting: (() => void)[] = []
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      if (reader.isNull()) reader.skip()
      else if (name === 'stream') labels = this.#begin(this.#pairs())
      else if (name === 'labels') labels = this.#begin(readLabels(readText(reader, this.#text)))
      else if (name !== 'values' && name !== 'entries') reader.skip()
      else {
        const read = name === 'values' ? () => this.#value() : () => this.#entry()
        const { at } = reader
        if (labels) this.#entries(at, read)
        else {
          waiting.push(() => this.#entries(at, read))
          reader.skip()
        }
      }
    }
    if (waiting.length === 0) return
    const end = reader.at
    if (!labels) this.#begin([])
    for (const readAll of waiting) readAll()
    reader.at = end
  }

  #begin(labels: readonly Pair[]): readonly Pair[] {
    this.#push.begin(labels)
    return labels
  }

  #entries(at: number, read: () => void): void {
    const reader = this.#reader
    reader.at = at
    reader.openArray()
    while (reader.element()) read()
  }

  #name(): string {
    return this.#text.text(this.#reader.start, this.#reader.stop)
  }

  /** Reads `[time, line, metadata]`. */
  #value(): void {
    const reader = this.#reader
    this.#push.spend()
    this.#push.beginEntry()
    reader.openArray()
    if (!reader.element()) throw reader.fail('an entry has no time')
    const refused = this.#time()
    if (!reader.element()) throw reader.fail('an entry has no line')
    this.#line()
    while (reader.element()) {
      if (reader.peek() === OPEN_OBJECT) this.#metadata()
      else reader.skip()
    }
    this.#push.endEntry(refused)
  }

  /** Reads `{"ts": …, "line": …}`. */
  #entry(): void {
    const reader = this.#reader
    let refused: string | undefined
    this.#push.spend()
    this.#push.beginEntry()
    reader.openObject()
    while (reader.key()) {
      const name = this.#name()
      if (name === 'ts') refused = this.#time()
      else if (name === 'line') this.#line()
      else reader.skip()
    }
    this.#push.endEntry(refused)
  }

  /** Sets the time of the entry, or returns the text of one that is none. */
  #time(): string | undefined {
    const reader = this.#reader
    const { draft } = this.#push.batches
    const written = readText(reader, this.#text)
    const time = NANOSECONDS.test(written) ? nanoInstant(written) : parseTime(written)
    draft.setTime(time)
    if (!reader.escaped) {
      draft.timeStart = reader.start
      draft.timeEnd = reader.stop
    }
    return time || written === '' ? undefined : written
  }

  #line(): void {
    const reader = this.#reader
    const isText = reader.peek() === QUOTE
    if (isText) reader.string()
    else reader.skip()
    this.#push.batches.setLine(reader, isText)
  }

  #metadata(): void {
    const reader = this.#reader
    this.#push.beginMetadata()
    reader.openObject()
    while (reader.key()) {
      const { start, stop, hash, escaped } = reader
      const name = this.#names.of(undefined, start, stop, hash, escaped).path || this.#written(start, stop, escaped)
      this.#push.spend()
      const isText = reader.peek() === QUOTE
      if (isText) reader.string()
      else reader.skip()
      if (isText && reader.escaped) this.#push.addText(name, this.#written(reader.start, reader.stop, true))
      else this.#push.addAt(name, reader.start, reader.stop)
    }
  }

  #written(start: number, stop: number, escaped: boolean): string {
    return escaped ? unescapeToText(this.#reader.bytes.subarray(start, stop)) : this.#text.text(start, stop)
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

const NANOSECONDS = /^\d{1,19}$/
