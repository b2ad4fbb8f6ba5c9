import { DEPTH_MAX } from '../../../lines/reference/walk.ts'
import type { FieldDraft } from '../../../lines/shredder/record-table.ts'
import type { BodyText } from '../body-text.ts'
import type { KeyName, KeyNames } from '../names.ts'
import { type Around, END, KeySteps, SCALAR, STRING } from './key-steps.ts'
import { type JsonReader, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './reader.ts'
import { unescapeToText } from './unescape.ts'

/** The number of keys kept for one event in addition to its line. */
export const KEYS_MAX = 1_000

/**
 * Goes over objects of one body from value to value, with the names of the event store: dots between levels, arrays and objects too deep as JSON,
 * null as absent. One object serves all records, since they mostly have the same keys.
 */
export class JsonLeaves<Role> {
  readonly #reader: JsonReader
  readonly #names: KeyNames<Role>
  readonly #text: BodyText
  readonly #steps: KeySteps<Role>
  readonly #isFlat: boolean
  readonly #keepsNull: boolean
  readonly #depthMax: number
  readonly #outermost: Around<Role> = { name: undefined, outer: undefined, depth: 1 }
  /** The objects around the value that was read last. */
  #around = this.#outermost
  #objects = 0
  isString = false
  /** True in front of an object or array that `next` left unread. */
  isOpen = false

  /** A flat one goes from member to member and does not read objects and arrays. */
  constructor(reader: JsonReader, names: KeyNames<Role>, text: BodyText, { isFlat = false, keepsNull = false } = {}) {
    this.#isFlat = isFlat
    this.#keepsNull = keepsNull
    this.#depthMax = isFlat ? 1 : DEPTH_MAX
    this.#reader = reader
    this.#names = names
    this.#text = text
    this.#steps = new KeySteps(reader, this.#outermost)
  }

  /** Begins the next object. */
  open(): void {
    this.#reader.openObject()
    this.#around = this.#outermost
    this.#objects += 1
    // Learning from the only object of a body would take longer than reading it.
    if (this.#objects > 1) this.#steps.begin()
  }

  /** Goes to the next value and returns its name; undefined after the last. */
  next(): KeyName<Role> | undefined {
    const reader = this.#reader
    const { at } = reader
    const step = this.#steps.find(at)
    if (step === undefined) return this.#readKey(at)
    const { kind, name, length } = step
    this.#around = step.around
    this.isString = kind === STRING
    this.isOpen = false
    if (kind === STRING) reader.stringAt(at + length)
    else {
      reader.goTo(at + length)
      if (kind === SCALAR) reader.scalar()
      else if (kind !== END) this.#bracket()
    }
    return name
  }

  /** Reads the key in front of the next value, and those of the objects around it. */
  #readKey(from: number): KeyName<Role> | undefined {
    const reader = this.#reader
    let around = this.#around
    for (;;) {
      if (!reader.key()) {
        if (around.outer === undefined) {
          this.#learn(from, reader.at, END, undefined, around)
          return undefined
        }
        around = around.outer
        continue
      }
      const name = this.#names.of(around.name, reader.start, reader.stop, reader.hash, reader.escaped)
      const first = reader.peek()
      if (first === OPEN_OBJECT && around.depth < this.#depthMax) {
        reader.openObject()
        around = { name, outer: around, depth: around.depth + 1 }
        continue
      }
      if (!this.#keepsNull && reader.isNull()) {
        reader.scalar()
        continue
      }
      this.#value(from, first, name, around)
      return name
    }
  }

  #value(from: number, first: number, name: KeyName<Role>, around: Around<Role>): void {
    const reader = this.#reader
    const { at } = reader
    this.isString = first === QUOTE
    this.isOpen = false
    if (this.isString) {
      this.#learn(from, at + 1, STRING, name, around)
      reader.string()
    } else if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      this.#learn(from, at, first, name, around)
      this.#bracket()
    } else {
      this.#learn(from, at, SCALAR, name, around)
      reader.scalar()
    }
  }

  #bracket(): void {
    this.isOpen = this.#isFlat
    if (!this.#isFlat) this.#reader.skip()
  }

  /** Goes past the value when `next` left it unread. */
  finishValue(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#reader.skip()
  }

  /** Goes over a whole object. */
  skip(): void {
    this.open()
    while (this.next() !== undefined);
  }

  #learn(from: number, to: number, kind: number, name: KeyName<Role> | undefined, around: Around<Role>): void {
    this.#around = around
    if (this.#objects > 1) this.#steps.learn(from, to, kind, name, around)
  }

  /** Adds the value to the fields of a record. */
  addTo(fields: FieldDraft, path: string): void {
    const { start, stop, escaped } = this.#reader
    if (escaped && this.isString) fields.addText(path, this.text())
    else fields.add(path, start, stop)
  }

  /** The value as text, for one that many records have. */
  repeated(): string {
    const { start, stop, escaped } = this.#reader
    return escaped && this.isString ? this.text() : this.#text.repeated(start, stop)
  }

  /** The value as text. */
  text(): string {
    const { bytes, start, stop, escaped } = this.#reader
    return escaped && this.isString ? unescapeToText(bytes.subarray(start, stop)) : this.#text.text(start, stop)
  }
}
