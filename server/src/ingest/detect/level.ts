import type { PlainText } from '../../lines/plain-text.ts'
import { severityOfWord } from '../../lines/severity.ts'
import { type FoundLeaf, leafAt } from '../../lines/text-line.ts'

/** Such a word is a level only near the beginning of a text. */
const LEVEL_CHARS = 80
const levels = new Set('TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR SEVERE FATAL CRITICAL CRIT ALERT EMERG PANIC'.split(' '))
/** A level in upper or lower case, alone in brackets or after a module name. */
const BRACKETED = /\[(?:\w+:)?([A-Za-z]{3,8})\]/y
const OPENING = 0x5b
/** A text without one of these has no level: the initials, and the bracket around a level in any case. */
export const levelBeginnings = `${[...levels].map((level) => level.charAt(0)).join('')}[`
const FIRST = 1
const BEFORE = 2
const BEHIND = 4
const SPACE = 8

/** Classifies characters: a level may begin with one, follow one, or end before one. */
const kinds = makeKinds()

function makeKinds(): Uint8Array {
  const made = new Uint8Array(128)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = (made[char.charCodeAt(0)] ?? 0) | kind
  }
  for (const level of levels) mark(level.charAt(0), FIRST)
  mark('[(<|:', BEFORE)
  mark('])>|:,', BEHIND)
  mark(' \t\n\v\f\r', BEFORE | BEHIND | SPACE)
  return made
}

const kindOf = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? 0

/** Finds a level in capitals or in brackets. */
export function levelIn(text: string, start: number): FoundLeaf | undefined {
  const end = Math.min(text.length, start + LEVEL_CHARS)
  let mayBegin = true
  for (let at = start; at < end; at += 1) {
    const kind = kindOf(text, at)
    const found = mayBegin && kind & FIRST ? capitals(text, at) : text.charCodeAt(at) === OPENING ? bracketed(text, at) : undefined
    if (found) return found
    mayBegin = (kind & BEFORE) !== 0
  }
  return undefined
}

function capitals(text: string, start: number): FoundLeaf | undefined {
  let end = start
  for (let code = text.charCodeAt(end); code >= 0x41 && code <= 0x5a; code = text.charCodeAt(end)) end += 1
  if (end < text.length && !(kindOf(text, end) & BEHIND)) return undefined
  const word = text.slice(start, end)
  return levels.has(word) ? leafAt('level', word, start) : undefined
}

function bracketed(text: string, start: number): FoundLeaf | undefined {
  BRACKETED.lastIndex = start
  const word = BRACKETED.exec(text)?.[1]
  if (word === undefined || !levels.has(word.toUpperCase())) return undefined
  return leafAt('level', word, BRACKETED.lastIndex - 1 - word.length)
}

/** The levels by their initials. */
const levelsByInitial = Map.groupBy(
  [...levels].map((word) => ({ bytes: Uint8Array.from(Buffer.from(word)), severity: severityOfWord(word) })),
  ({ bytes }) => bytes[0],
)
const levelsOf = Array.from({ length: 128 }, (_, initial) => levelsByInitial.get(initial) ?? [])
const ASCII_MAX = 0x7f
/** The smallest first byte of a character of several bytes, and of one of four. */
const FIRST_OF_CHAR = 0xc0
const FIRST_OF_FOUR = 0xf0
const WORD_CHARS_MIN = 3
const WORD_CHARS_MAX = 8
const [COLON, CLOSING, CASE, UPPER_A, UPPER_Z] = [0x3a, 0x5d, 0x20, 0x41, 0x5a]

/** Finds a level in the bytes of a line as levelIn does, and adds it as a leaf. */
export function readLevel(bytes: Uint8Array, start: number, end: number, found: PlainText): void {
  let stop = start + LEVEL_CHARS
  let mayBegin = true
  for (let at = start; at < stop && at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte > ASCII_MAX) {
      // Characters count as in a string: all bytes but the first of one are additional, in a character of four bytes only two.
      if (byte < FIRST_OF_CHAR) stop += 1
      else if (byte >= FIRST_OF_FOUR) stop -= 1
      mayBegin = false
      continue
    }
    const kind = kinds[byte] as number
    if (mayBegin && kind & FIRST) {
      if (readCapitals(bytes, at, end, found)) return
    } else if (byte === OPENING && readBracketed(bytes, at, end, found)) return
    mayBegin = (kind & BEFORE) !== 0
  }
}

function readCapitals(bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  let to = start
  while (to < end && (bytes[to] as number) >= UPPER_A && (bytes[to] as number) <= UPPER_Z) to += 1
  if (to < end && !((kinds[bytes[to] as number] as number) & BEHIND)) return false
  return addLevel(bytes, start, to, found)
}

function readBracketed(bytes: Uint8Array, opening: number, end: number, found: PlainText): boolean {
  let start = opening + 1
  let to = wordEnd(bytes, start, end)
  if (to > start && to < end && bytes[to] === COLON) {
    start = to + 1
    to = wordEnd(bytes, start, end)
  }
  return to < end && bytes[to] === CLOSING && addLevel(bytes, start, to, found)
}

function wordEnd(bytes: Uint8Array, start: number, end: number): number {
  let to = start
  for (; to < end; to += 1) {
    const byte = bytes[to] as number
    const upper = byte & ~CASE
    if (!((upper >= UPPER_A && upper <= UPPER_Z) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f)) return to
  }
  return to
}

/** Adds the word as the leaf `level` if it is one, in any case. */
function addLevel(bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  const length = end - start
  if (length < WORD_CHARS_MIN || length > WORD_CHARS_MAX) return false
  for (const level of levelsOf[(bytes[start] as number) & ~CASE] ?? []) {
    if (level.bytes.length !== length || !isWord(bytes, start, level.bytes)) continue
    found.level = level.severity
    return found.add('level', start, end)
  }
  return false
}

function isWord(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let at = 0; at < word.length; at += 1) if (((bytes[start + at] as number) & ~CASE) !== word[at]) return false
  return true
}
