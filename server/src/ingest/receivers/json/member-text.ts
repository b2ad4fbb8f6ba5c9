import type { FieldDraft } from '../../../lines/shredder/record-table.ts'
import type { BodyText } from '../body-text.ts'
import type { JsonReader } from './reader.ts'
import { unescapeToText } from './unescape.ts'

/** The value of a member with a meaning of its own, as its place in the body. One object serves all records. */
export class MemberText {
  start = 0
  stop = 0
  escaped = false
  /** False for a member that the record does not have. */
  isFound = false
  readonly #reader: JsonReader
  readonly #text: BodyText

  constructor(reader: JsonReader, text: BodyText) {
    this.#reader = reader
    this.#text = text
  }

  /** True for a missing member as well. */
  get isEmpty(): boolean {
    return this.start === this.stop
  }

  clear(): void {
    this.start = 0
    this.stop = 0
    this.escaped = false
    this.isFound = false
  }

  /** Notes the value that the reader read last. */
  note(isString: boolean): void {
    const { start, stop, escaped } = this.#reader
    this.start = start
    this.stop = stop
    this.escaped = escaped && isString
    this.isFound = true
  }

  /** The value as text; undefined for a missing member. */
  text(): string | undefined {
    if (!this.isFound) return undefined
    const { start, stop, escaped } = this
    return escaped ? unescapeToText(this.#reader.bytes.subarray(start, stop)) : this.#text.repeated(start, stop)
  }

  /** Adds the value to the fields of a record. */
  addTo(fields: FieldDraft, path: string): void {
    if (this.escaped) fields.addText(path, this.text() ?? '')
    else fields.add(path, this.start, this.stop)
  }
}
