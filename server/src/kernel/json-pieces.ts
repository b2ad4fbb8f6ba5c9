import { toJson } from './exact-json.ts'
import { Piece } from './turns.ts'

/** Values with longer JSON are divided. The estimate counts characters. */
const UNDIVIDED_CHARS = 16 * 1_024
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
    left = charsLeft((value as Record<string, unknown>)[name], left - name.length - 4)
    if (left < 0) return left
  }
  return left
}

const isWrittenByItself = (value: object): value is { toJSON(): unknown } => 'toJSON' in value && typeof value.toJSON === 'function'

/** Writes the same JSON as `toJson` in pieces, and lets other work go first between them. */
export async function* jsonPieces(value: unknown): AsyncGenerator<string, void, undefined> {
  const piece = new Piece()
  let text = ''
  for (const part of partsOf(value)) {
    text += part
    const pause = piece.pause()
    if (pause) await pause
    if (text.length < PIECE_CHARS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

function* partsOf(given: unknown): Generator<string, void, undefined> {
  const value = given instanceof DeferredList ? given.toJSON() : given
  if (!isDivisible(value)) yield toJson(value) ?? 'null'
  else if (Array.isArray(value)) yield* elementsOf(value)
  else yield* membersOf(value)
}

const isDivisible = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isWrittenByItself(value) && isJsonLonger(value, UNDIVIDED_CHARS)

function* elementsOf(list: readonly unknown[]): Generator<string, void, undefined> {
  yield '['
  for (let at = 0; at < list.length; at += 1) {
    if (at > 0) yield ','
    yield* partsOf(list[at])
  }
  yield ']'
}

function* membersOf(object: object): Generator<string, void, undefined> {
  let before = '{'
  for (const [name, value] of Object.entries(object)) {
    // Such members are left out.
    const isLeftOut = value === undefined || typeof value === 'function' || typeof value === 'symbol'
    if (isLeftOut) continue
    yield `${before}${toJson(name)}:`
    yield* partsOf(value)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
