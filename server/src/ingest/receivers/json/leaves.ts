import type { FieldDraft } from '../../../lines/record-table.ts'
import { DEPTH_MAX } from '../../../lines/walk.ts'
import type { BodyText } from '../body-text.ts'
import type { KeyName, KeyNames } from '../names.ts'
import { type JsonReader, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './reader.ts'
import { unescapeToText } from './unescape.ts'

/** The number of keys kept for one event in addition to its line. */
export const KEYS_MAX = 1_000

/**
 * Goes over an object from value to value, with the names of the event store: dots between levels, arrays and objects too deep as JSON,
 * null as absent.
 */
export class JsonLeaves<Role> {
  readonly #reader: JsonReader
  readonly #names: KeyNames<Role>
  readonly #text: BodyText
  /** The names of the open objects; the outermost has none. */
  readonly #around: (KeyName<Role> | undefined)[] = [undefined]
  isString = false

  constructor(reader: JsonReader, names: KeyNames<Role>, text: BodyText) {
    this.#reader = reader
    this.#names = names
    this.#text = text
    reader.openObject()
  }

  /** Goes to the next value and returns its name; undefined after the last. */
  next(): KeyName<Role> | undefined {
    const reader = this.#reader
    for (;;) {
      if (!reader.key()) {
        this.#around.pop()
        if (this.#around.length === 0) return undefined
        continue
      }
      const name = this.#names.of(this.#around.at(-1), reader.start, reader.stop, reader.hash, reader.escaped)
      const first = reader.peek()
      if (first === OPEN_OBJECT && this.#around.length < DEPTH_MAX) {
        reader.openObject()
        this.#around.push(name)
        continue
      }
      if (reader.isNull()) {
        reader.scalar()
        continue
      }
      this.isString = first === QUOTE
      if (this.isString) reader.string()
      else if (first === OPEN_OBJECT || first === OPEN_ARRAY) reader.skip()
      else reader.scalar()
      return name
    }
  }

  /** Adds the value to the fields of a record. */
  addTo(fields: FieldDraft, path: string): void {
    const { start, stop, escaped } = this.#reader
    if (escaped && this.isString) fields.addText(path, this.text())
    else fields.add(path, start, stop)
  }

  /** The value as text. */
  text(): string {
    const { bytes, start, stop, escaped } = this.#reader
    return escaped && this.isString ? unescapeToText(bytes.subarray(start, stop)) : this.#text.text(start, stop)
  }
}
