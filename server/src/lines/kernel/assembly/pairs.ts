import { BACKSLASH, byteAt, QUOTE } from './bytes'
import { scratchEnd, setScratch } from './escapes'
import { FULL, keyOf, pathOf, ROOT } from './keys'
import { addInner, IN_TEXT } from './nested'
import { BEFORE_PAIR, BEHIND_PAIR, findByte, isKind, KEY, KEY_FIRST, kindAt } from './text-kinds'

/** Reads key=value pairs as ingest/detect/pairs.ts does. */
const PAIRS_MIN: i32 = 2
const PAIRS_MAX: i32 = 200
const NAME_CHARS_MAX: i32 = 128
const EQUALS: i32 = 0x3d
const SINGLE: i32 = 0x27
const NONE: i32 = -1

/** What a text has: no pairs, some, or nothing but pairs. */
export const NO_PAIRS: i32 = 0
export const SOME_PAIRS: i32 = 1
export const ALL_PAIRS: i32 = 2

/** The value that was read last, without a start for a name without a value. */
let valueStart: i32 = NONE
let valueEnd: i32 = 0
let place: i32 = 0
/** The first pair, which counts only with a second one. */
let firstName: i32 = 0
let firstEquals: i32 = 0
let firstStart: i32 = 0
let firstEnd: i32 = 0
let firstPlace: i32 = 0

/** Reads the pairs between two positions. ALL_PAIRS covers the text from `whole` on. FULL when there is no more room. */
export function readPairs(from: i32, to: i32, whole: i32): i32 {
  let pairs = 0
  let isWhole = true
  let checkedTo = whole
  let at = from
  for (let equals = findByte(EQUALS, at, to); equals < to; equals = findByte(EQUALS, at, to)) {
    const start = nameStart(at, equals, from)
    const next = start < 0 ? NONE : readValue(equals + 1, to)
    at = next === NONE ? equals + 1 : next
    if (next === NONE) continue
    isWhole = isWhole && isFixed(checkedTo, start) && !(valueStart !== NONE && place !== IN_TEXT)
    checkedTo = next
    if (valueStart === NONE) continue
    pairs += 1
    if (pairs === 1) {
      firstName = start
      firstEquals = equals
      firstStart = valueStart
      firstEnd = valueEnd
      firstPlace = place
      continue
    }
    if (pairs === PAIRS_MIN && !add(firstName, firstEquals, firstStart, firstEnd, firstPlace)) return FULL
    if (!add(start, equals, valueStart, valueEnd, place)) return FULL
    if (pairs === PAIRS_MAX) return SOME_PAIRS
  }
  if (pairs < PAIRS_MIN) return NO_PAIRS
  return isWhole && isFixed(checkedTo, to) ? ALL_PAIRS : SOME_PAIRS
}

function add(name: i32, nameEnd: i32, start: i32, end: i32, where: i32): bool {
  const key = keyOf(name, nameEnd, ROOT)
  if (key === FULL) return false
  addInner(pathOf(key), start, end, where)
  return true
}

/** The start of the name before the equals sign, -1 for none. */
function nameStart(at: i32, equals: i32, from: i32): i32 {
  let start = equals
  while (start > at && (kindAt(start - 1) & KEY) !== 0) start -= 1
  if (start === equals || equals - start > NAME_CHARS_MAX || (kindAt(start) & KEY_FIRST) === 0) return NONE
  return start === from || (kindAt(start - 1) & BEFORE_PAIR) !== 0 ? start : NONE
}

/** Reads the value at a position. Returns the position behind it, -1 for an equals sign that is not part of a pair. */
function readValue(start: i32, to: i32): i32 {
  const byte = start < to ? byteAt(start) : 0
  valueStart = NONE
  place = IN_TEXT
  if (byte === QUOTE) return readQuoted(start + 1, to)
  if (byte === SINGLE) {
    const close = findByte(SINGLE, start + 1, to)
    return close < to ? closedAt(start + 1, close, to) : NONE
  }
  if (endsAt(start, to)) return start
  if (byte === EQUALS) return NONE
  let end = start
  while (end < to && (kindAt(end) & BEHIND_PAIR) === 0) end += 1
  valueStart = start
  valueEnd = end
  return end
}

function closedAt(start: i32, close: i32, to: i32): i32 {
  if (!endsAt(close + 1, to)) return NONE
  valueStart = start
  valueEnd = close
  return close + 1
}

function readQuoted(start: i32, to: i32): i32 {
  let isEscaped = false
  let close = start
  for (; close < to; close += 1) {
    const byte = byteAt(close)
    if (byte === QUOTE) break
    if (byte !== BACKSLASH) continue
    isEscaped = true
    close += 1
  }
  if (close >= to || closedAt(start, close, to) === NONE) return NONE
  if (isEscaped) decode(start, close)
  return close + 1
}

/** Makes the value a text without its escapes. */
function decode(start: i32, end: i32): void {
  const from = scratchEnd()
  let put = from
  for (let at = start; at < end; at += 1) {
    let byte = byteAt(at)
    // A backslash at the end of a line stays.
    if (byte === BACKSLASH && byteAt(at + 1) !== 0x0a && byteAt(at + 1) !== 0x0d) {
      at += 1
      byte = byteAt(at)
      byte = byte === 0x6e ? 0x0a : byte === 0x74 ? 0x09 : byte === 0x72 ? 0x0d : byte
    }
    store<u8>(put, byte)
    put += 1
  }
  setScratch(put)
  valueStart = from
  valueEnd = put
  place = 0
}

function endsAt(at: i32, to: i32): bool {
  return at >= to || (kindAt(at) & BEHIND_PAIR) !== 0
}

/** True when only punctuation, quotes and spaces lie between two positions. */
function isFixed(start: i32, end: i32): bool {
  for (let at = start; at < end; at += 1) {
    if (isKind(at, end, BEFORE_PAIR | BEHIND_PAIR)) continue
    const byte = byteAt(at)
    if (byte !== QUOTE && byte !== SINGLE) return false
  }
  return true
}
