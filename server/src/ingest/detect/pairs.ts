import { derivedLeaf, type FoundLeaf, leafAt } from '../../lines/reference/text-line.ts'
import type { Pair } from '../batch.ts'

/** A single pair in a text is usually a coincidence. */
export const PAIRS_MIN = 2
export const PAIRS_MAX = 200
export const NAME_CHARS_MAX = 128
const ESCAPES: ReadonlyMap<string, string> = new Map(Object.entries<string>({ n: '\n', t: '\t', r: '\r' }))
const [EQUALS, DOUBLE, SINGLE, BACKSLASH] = [0x3d, 0x22, 0x27, 0x5c]

/**
 * Character classes: FIRST begins a key and NAME continues it; a pair follows BEFORE and ends at BEHIND; an unquoted value begins with
 * neither quote nor =.
 */
export const NAME = 1
export const FIRST = 2
export const BEFORE = 4
export const BEHIND = 8

export const kinds = makeKinds()

function makeKinds(): Uint8Array {
  const made = new Uint8Array(256)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  const alphabet = 'abcdefghijklmnopqrstuvwxyz'
  mark(`${alphabet}${alphabet.toUpperCase()}_@`, NAME | FIRST)
  mark('0123456789./-', NAME)
  mark('[({,;|', BEFORE)
  mark(',;|])}', BEHIND)
  mark(' \t\n\v\f\r', BEFORE | BEHIND)
  return made
}

const OTHER_SPACE = /\s/

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 128) return kinds[code] as number
  return OTHER_SPACE.test(text.charAt(at)) ? BEFORE | BEHIND : 0
}

/** The pairs in a part of a text. `isWhole` is true when the part contains nothing else, so that lines differ only in the values. */
export type FoundPairs = { leaves: readonly FoundLeaf[]; isWhole: boolean }
export const NO_PAIRS: FoundPairs = { leaves: [], isWhole: false }

/** Reads the key=value pairs of a text, quoted or not. */
export const pairsIn = (text: string): Pair[] => findPairs(text, 0, text.length, 0).leaves.map(({ path, text: value }) => [path, value])

/** Reads the pairs between two positions; isWhole covers the text from `whole` on. */
export function findPairs(text: string, from: number, to: number, whole: number): FoundPairs {
  const leaves: FoundLeaf[] = []
  let isWhole = true
  let checkedTo = whole
  let at = from
  for (let equals = text.indexOf('=', at); equals >= 0 && equals < to; equals = text.indexOf('=', at)) {
    const start = nameStart(text, at, equals, from)
    const value = start < 0 ? NONE : valueAt(text, equals + 1, to)
    at = value === NONE ? equals + 1 : value.next
    if (value === NONE) continue
    isWhole &&= isFixed(text, checkedTo, start) && !(value.leaf && value.leaf.start < 0)
    checkedTo = value.next
    if (value.leaf) leaves.push({ ...value.leaf, path: text.slice(start, equals) })
    if (leaves.length === PAIRS_MAX) break
  }
  if (leaves.length < PAIRS_MIN) return NO_PAIRS
  return { leaves, isWhole: isWhole && isFixed(text, checkedTo, to) && leaves.length < PAIRS_MAX }
}

/** The start of the name before the equals sign, -1 for none. */
function nameStart(text: string, at: number, equals: number, from: number): number {
  let start = equals
  while (start > at && kindAt(text, start - 1) & NAME) start -= 1
  if (start === equals || equals - start > NAME_CHARS_MAX || !(kindAt(text, start) & FIRST)) return -1
  return start === from || kindAt(text, start - 1) & BEFORE ? start : -1
}

type Value = { leaf: FoundLeaf | undefined; next: number }
/** The result for an equals sign that is not part of a pair. */
const NONE: Value = { leaf: undefined, next: -1 }

/** Reads the value at a position. A name without a value is a pair without a leaf. */
function valueAt(text: string, start: number, to: number): Value {
  const code = start < to ? text.charCodeAt(start) : 0
  if (code === DOUBLE) return quoted(text, start + 1, to)
  if (code === SINGLE) {
    const close = text.indexOf("'", start + 1)
    return close >= 0 && close < to && endsAt(text, close + 1, to) ? { leaf: leafOf(text, start + 1, close), next: close + 1 } : NONE
  }
  if (endsAt(text, start, to)) return { leaf: undefined, next: start }
  if (code === EQUALS) return NONE
  let end = start
  while (end < to && !(kindAt(text, end) & BEHIND)) end += 1
  return { leaf: leafOf(text, start, end), next: end }
}

function quoted(text: string, start: number, to: number): Value {
  let hasEscapes = false
  let close = start
  for (; close < to; close += 1) {
    const code = text.charCodeAt(close)
    if (code === DOUBLE) break
    if (code === BACKSLASH) {
      hasEscapes = true
      close += 1
    }
  }
  if (close >= to || !endsAt(text, close + 1, to)) return NONE
  if (!hasEscapes) return { leaf: leafOf(text, start, close), next: close + 1 }
  const value = text.slice(start, close).replace(/\\(.)/g, (_, char: string) => ESCAPES.get(char) ?? char)
  return { leaf: derivedLeaf('', value), next: close + 1 }
}

const leafOf = (text: string, start: number, end: number): FoundLeaf => leafAt('', text.slice(start, end), start)

const endsAt = (text: string, at: number, to: number): boolean => at >= to || (kindAt(text, at) & BEHIND) !== 0

/** True when only punctuation and spaces lie between two positions. */
function isFixed(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!(kindAt(text, at) & (BEFORE | BEHIND)) && !isQuote(text.charCodeAt(at))) return false
  return true
}

const isQuote = (code: number): boolean => code === DOUBLE || code === SINGLE
