import { toJson } from './exact-json.ts'
import { Stretch } from './steps.ts'

/** Values with longer JSON are divided. The estimate counts characters. */
const UNDIVIDED_CHARS = 16 * 1_024
/** So much is written together, and sent together. */
const TOGETHER_CHARS = 96 * 1_024
const PIECE_CHARS = 64 * 1_024

/** A list that is made only while it is written, so that a long answer need not be in memory as a whole. */
class DeferredList<T> {
  readonly chars: number
  readonly toJSON: () => readonly T[]

  constructor(chars: number, make: () => readonly T[]) {
    this.chars = chars
    this.toJSON = make
  }
}

/** `elementChars` is about the length of the JSON of an element. The list can only be written as JSON, each time by making it again. */
export const deferredList = <T>(length: number, elementChars: number, make: () => T[]): T[] =>
  new DeferredList(length * elementChars, make) as unknown as T[]

/** Estimates whether the JSON of a value is longer. It takes a small part of the time of writing it, and looks at no more than it needs to. */
export const isJsonLonger = (value: unknown, chars: number): boolean => charsLeft(value, chars) < 0

const NUMBER_CHARS = 6
const OBJECT_CHARS = 32

function charsLeft(value: unknown, given: number): number {
  if (typeof value === 'string') return given - value.length - 3
  if (typeof value !== 'object' || value === null) return given - NUMBER_CHARS
  if (value instanceof DeferredList) return given - value.chars
  if (isWrittenByItself(value)) return given - OBJECT_CHARS
  let left = given - 2
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1) left = charsLeft(value[at], left)
    return left
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    // Most members are texts.
    left -= name.length + 4
    left = typeof member === 'string' ? left - member.length - 3 : charsLeft(member, left)
    if (left < 0) return left
  }
  return left
}

const isWrittenByItself = (value: object): boolean => typeof (value as { toJSON?: unknown }).toJSON === 'function'

/** Writes the same JSON as `toJson` in pieces, and lets other work go first between them. */
export async function* jsonPieces(value: unknown): AsyncGenerator<string, void, undefined> {
  const stretch = new Stretch()
  let text = ''
  for (const part of partsOf(value)) {
    text += part
    const pause = stretch.pause()
    if (pause) await pause
    if (text.length < PIECE_CHARS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** The parts of a value that is divided. */
function* partsOf(given: unknown): Generator<string, void, undefined> {
  const value = given instanceof DeferredList ? given.toJSON() : given
  if (typeof value !== 'object' || value === null || isWrittenByItself(value)) yield toJson(value) ?? 'null'
  else if (Array.isArray(value)) yield* elementsOf(value)
  else yield* membersOf(value)
}

/** Short elements are written together, which takes less time than one by one. */
function* elementsOf(list: readonly unknown[]): Generator<string, void, undefined> {
  let [from, chars] = [0, 0]
  const together = (to: number): string => `${from === 0 ? '[' : ','}${toJson(list.slice(from, to)).slice(1, -1)}`
  for (let at = 0; at < list.length; at += 1) {
    const left = charsLeft(list[at], UNDIVIDED_CHARS)
    chars += UNDIVIDED_CHARS - left
    if (left >= 0 && chars < TOGETHER_CHARS) continue
    if (left >= 0) yield together(at + 1)
    else {
      if (from < at) yield together(at)
      yield at === 0 ? '[' : ','
      yield* partsOf(list[at])
    }
    from = at + 1
    chars = 0
  }
  if (from < list.length) yield together(list.length)
  yield list.length === 0 ? '[]' : ']'
}

function* membersOf(object: object): Generator<string, void, undefined> {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    // Such members are left out.
    const isLeftOut = value === undefined || typeof value === 'function' || typeof value === 'symbol'
    if (isLeftOut) continue
    yield `${before}${toJson(name)}:`
    if (isJsonLonger(value, UNDIVIDED_CHARS)) yield* partsOf(value)
    else yield toJson(value)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
