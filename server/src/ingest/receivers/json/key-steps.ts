import type { KeyName } from '../names.ts'
import { type JsonReader, QUOTE, startsScalar } from './reader.ts'
import { isEqualPart } from './words.ts'

/** The kind of the value after a step: a string, a number or word, the bracket that opens it, or none at the end of the object. */
export type StepKind = number
export const STRING = QUOTE
export const SCALAR = 1
export const END = 0

/** The objects around a value, from the inside out. */
export type Around<Role> = {
  readonly name: KeyName<Role> | undefined
  readonly outer: Around<Role> | undefined
  readonly depth: number
}

/** The bytes between two values of an object, as they were once read: brackets, the key, and the quote of a string. */
export type KeyStep<Role> = {
  readonly start: number
  readonly length: number
  readonly kind: StepKind
  readonly name: KeyName<Role> | undefined
  readonly around: Around<Role>
  /** The step that followed last, and others that did. */
  next: KeyStep<Role> | undefined
  readonly others: KeyStep<Role>[]
}

const OTHERS_MAX = 3
/** Longer ones are read each time. */
const STEP_BYTES_MAX = 256
/** Bounds the time for learning from a body whose records are all different, and the memory for it. */
const CHANGES_MAX = 4_096
const EQUAL_NAMES_MAX = 8

/**
 * Remembers the steps from value to value that the records of one body take, and which followed which. Records of one sender mostly have the same keys in the same
 * order and spacing, so the next step is compared with the bytes in one go. Equal bytes lead to the same key, so a step that is not found changes nothing but the time.
 */
export class KeySteps<Role> {
  readonly #reader: JsonReader
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #known = new Map<KeyName<Role> | undefined, KeyStep<Role>[]>()
  readonly #first: KeyStep<Role>
  #last: KeyStep<Role> | undefined
  #changes = 0

  constructor(reader: JsonReader, outermost: Around<Role>) {
    this.#reader = reader
    this.#bytes = reader.bytes
    this.#view = reader.view
    this.#first = { start: 0, length: 0, kind: END, name: undefined, around: outermost, next: undefined, others: [] }
  }

  /** Begins an object, after its bracket. */
  begin(): void {
    this.#last = this.#first
  }

  /** Goes one step further when the bytes at this place are those of a step that followed here before. */
  find(at: number): KeyStep<Role> | undefined {
    const last = this.#last
    const next = last?.next
    if (last === undefined || next === undefined) return undefined
    if (this.#isAt(next, at)) {
      this.#last = next
      return next
    }
    const { others } = last
    for (let index = 0; index < others.length; index += 1) {
      const other = others[index] as KeyStep<Role>
      if (!this.#isAt(other, at)) continue
      others[index] = next
      last.next = other
      this.#last = other
      return other
    }
    return undefined
  }

  /** Remembers the step from a place to the next value, which was read key by key. */
  learn(start: number, end: number, kind: StepKind, name: KeyName<Role> | undefined, around: Around<Role>): void {
    const last = this.#last
    const step = end - start > STEP_BYTES_MAX ? undefined : this.#stepOf(start, end - start, kind, name, around)
    this.#last = step
    if (last === undefined || step === undefined || this.#changes >= CHANGES_MAX) return
    this.#changes += 1
    if (last.next !== undefined) last.others.unshift(last.next)
    if (last.others.length > OTHERS_MAX) last.others.pop()
    last.next = step
  }

  #isAt({ start, length, kind }: KeyStep<Role>, at: number): boolean {
    const { end } = this.#reader
    const valueAt = at + length
    if (valueAt > end) return false
    if (!isEqualPart(this.#view, start, at, length)) return false
    if (kind === STRING || kind === END) return true
    if (valueAt === end) return false
    const first = this.#bytes[valueAt] as number
    return kind === SCALAR ? startsScalar(first) : first === kind
  }

  /** A step that follows different ones is one object, so that what follows is learned once. */
  #stepOf(start: number, length: number, kind: StepKind, name: KeyName<Role> | undefined, around: Around<Role>): KeyStep<Role> | undefined {
    let steps = this.#known.get(name)
    const known = steps?.find((step) => step.length === length && step.kind === kind && isEqualPart(this.#view, step.start, start, length))
    if (known || this.#changes >= CHANGES_MAX || (steps && steps.length >= EQUAL_NAMES_MAX)) return known
    const step: KeyStep<Role> = { start, length, kind, name, around, next: undefined, others: [] }
    steps ??= []
    steps.push(step)
    this.#known.set(name, steps)
    this.#changes += 1
    return step
  }
}
