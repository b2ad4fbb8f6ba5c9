import { AT_SIGN, BACKSLASH, byteAt, controlOf, hexValue, isDigit, isDomainByte, placeOf } from './bytes'
import {
  ADDRESS,
  ADDRESS_OWNERS,
  BYTES,
  CARD,
  CARD_OWNERS,
  ESCAPE,
  ESCAPE_OWNERS,
  GROUP_COUNT,
  GROUPS,
  HAS_LONG_CHARS,
  hasBit,
  isBeginAt,
  isByteOf,
  LENGTH,
  LITERAL_BYTES,
  LITERALS,
  OWNERS,
  PAIRS,
  START,
  STARTS,
  WORD,
  WORD_STARTS,
} from './tables'

/**
 * Who looks for a literal that escapes hide. Readers resolve escapes once or several times, each in its own way: backslashes may be left out before any
 * character, or stand with a letter or four digits for another one. So a literal is here if it is in any of these readings. What is around it does not
 * count. Each literal is found at the first escape that it goes through, before which all of its bytes are written as they are.
 */
export function hiddenIn(tables: i32, start: i32, end: i32): i32 {
  const all = load<i32>(tables, ESCAPE_OWNERS)
  let found = 0
  for (let at = placeOf(BACKSLASH, start, end); at < end && (found & all) !== all; ) {
    const next = endOfBackslashes(at, end)
    if (next >= end) break
    found |= hiddenAt(tables, start, end, at, next)
    at = placeOf(BACKSLASH, next, end)
  }
  return found & all
}

/** More backslashes than readers resolve. */
const BACKSLASHES_MAX: i32 = 15
/** A character that no literal has. */
const OTHER_CHAR: i32 = 0xff
/** What an escape of four digits stands for when it is none, or when the result is part of a further escape. */
const NO_CODE: i32 = -1
const DEEP: i32 = -2
const LOWER_U: i32 = 0x75

function endOfBackslashes(start: i32, end: i32): i32 {
  let at = start
  while (at < end && byteAt(at) === BACKSLASH) at += 1
  return at
}

/** `next` is the position behind the backslashes. */
function hiddenAt(tables: i32, start: i32, end: i32, at: i32, next: i32): i32 {
  const all = load<i32>(tables, ESCAPE_OWNERS)
  if (next - at > BACKSLASHES_MAX) return all
  const byte = byteAt(next)
  // Most escapes are quotes of JSON within JSON, which no literal has.
  let found = 0
  if ((at > start && isPair(tables, byteAt(at - 1), byte)) || byte === AT_SIGN || isNumberByte(byte))
    found = through(tables, start, end, at, byte, next + 1, true)
  if (isInDomain(at, start)) found |= load<i32>(tables, ADDRESS_OWNERS)
  const control = controlOf(byte)
  if (control >= 0) found |= through(tables, start, end, at, control, next + 1, false)
  if (byte !== LOWER_U) return found
  const code = codeAt(next + 1, end)
  if (code === NO_CODE) return found
  // A surrogate is half of a character.
  const isHalf = code >= 0xd800 && code <= 0xdfff
  if (code === DEEP || (isHalf && load<i32>(tables, HAS_LONG_CHARS) !== 0)) return all
  const short = code < 0x80 ? controlOf(code) : -1
  if (short >= 0) found |= through(tables, start, end, at, short, next + 5, false)
  return found | through(tables, start, end, at, isHalf ? OTHER_CHAR : bytesOf(code), next + 5, false)
}

/** The character that four hexadecimal digits stand for. */
function codeAt(start: i32, end: i32): i32 {
  let code = 0
  for (let at = start; at < start + 4; at += 1) {
    if (at >= end) return NO_CODE
    const digit = hexValue(byteAt(at))
    if (digit < 0) return byteAt(at) === BACKSLASH ? DEEP : NO_CODE
    code = (code << 4) | digit
  }
  return code === 0 || code === BACKSLASH || code === LOWER_U ? DEEP : code
}

/** The bytes of a character in UTF-8, the first one lowest. */
function bytesOf(code: i32): i32 {
  if (code < 0x80) return code
  if (code < 0x800) return 0xc0 | (code >> 6) | ((0x80 | (code & 63)) << 8)
  return 0xe0 | (code >> 12) | ((0x80 | ((code >> 6) & 63)) << 8) | ((0x80 | (code & 63)) << 16)
}

/**
 * Who looks for a literal with a character that an escape stands for. `at` is where the escape begins, and `next` where it ends. The character of one that
 * only leaves out backslashes is written as it is, so that no literal begins with it that is not found as it is.
 */
function through(tables: i32, start: i32, end: i32, at: i32, char: i32, next: i32, isWritten: bool): i32 {
  const first = char & 0xff
  let found = 0
  const isInside = at > start && isPair(tables, byteAt(at - 1), first)
  const isBegin = !isWritten && hasBit(tables + STARTS, first)
  const isBeforeWord = !isWritten && next < end && hasBit(tables + WORD_STARTS, byteAt(next))
  if (isInside || isBegin || isBeforeWord) {
    const last = byteAt(tables + GROUPS + GROUP_COUNT)
    for (let number = 0; number < last; number += 1) {
      const literal = tables + LITERALS + number * LITERAL_BYTES
      const kind = byteAt(literal)
      if (kind === CARD || kind === ESCAPE || kind === ADDRESS) continue
      const owners = load<i32>(literal, OWNERS)
      if ((owners & ~found) === 0) continue
      const isFound =
        (isBeforeWord && (kind === WORD || kind === START) && isRestAt(literal, 0, next, end)) ||
        isThrough(literal, start, end, at, char, next, isWritten)
      if (isFound) found |= owners
    }
  }
  if (first === AT_SIGN && next < end && (byteAt(next) === BACKSLASH || isDomainByte(byteAt(next))))
    found |= load<i32>(tables, ADDRESS_OWNERS)
  if (isOfNumber(start, end, at, first, next, isWritten)) found |= load<i32>(tables, CARD_OWNERS)
  return found
}

/** True when two bytes follow each other in a literal. */
function isPair(tables: i32, first: i32, second: i32): bool {
  return hasBit(tables + PAIRS, (first << 8) | second)
}

function isThrough(literal: i32, start: i32, end: i32, at: i32, char: i32, next: i32, isWritten: bool): bool {
  const length = byteAt(literal + LENGTH)
  for (let place = isWritten ? 1 : 0; place < length && place <= at - start; place += 1) {
    if (!isByteOf(literal, place, char & 0xff)) continue
    if (!isBeginAt(literal, place, at - place)) continue
    const behind = behindChar(literal, place, char)
    if (behind >= 0 && isRestAt(literal, behind, next, end)) return true
  }
  return false
}

/** The place in a literal behind all bytes of a character, of which the first is there; -1 where the others are not. */
function behindChar(literal: i32, place: i32, char: i32): i32 {
  const length = byteAt(literal + LENGTH)
  let behind = place + 1
  for (let rest = (char >>> 8) & 0xffff; rest !== 0; rest >>>= 8) {
    // A literal may be cut within a character.
    if (behind === length) return behind
    if (!isByteOf(literal, behind, rest & 0xff)) return -1
    behind += 1
  }
  return behind
}

/** True when the rest of a literal is in some reading of what follows. */
function isRestAt(literal: i32, from: i32, start: i32, end: i32): bool {
  const length = byteAt(literal + LENGTH)
  let place = from
  let at = start
  while (place < length) {
    if (at >= end) return false
    const byte = byteAt(at)
    if (byte !== BACKSLASH) {
      if (!isByteOf(literal, place, byte)) return false
      place += 1
      at += 1
      continue
    }
    if (isByteOf(literal, place, BACKSLASH) && isRestAt(literal, place + 1, at + 1, end)) return true
    const next = endOfBackslashes(at, end)
    if (next >= end) return false
    if (next - at > BACKSLASHES_MAX) return true
    const escaped = byteAt(next)
    const control = controlOf(escaped)
    if (control >= 0 && isByteOf(literal, place, control) && isRestAt(literal, place + 1, next + 1, end)) return true
    if (escaped === LOWER_U) {
      const code = codeAt(next + 1, end)
      if (code === DEEP) return true
      const short = code < 0x80 ? controlOf(code) : -1
      if (short >= 0 && isByteOf(literal, place, short) && isRestAt(literal, place + 1, next + 5, end)) return true
      if (code !== NO_CODE && (code < 0xd800 || code > 0xdfff)) {
        const char = bytesOf(code)
        const behind = isByteOf(literal, place, char & 0xff) ? behindChar(literal, place, char) : -1
        if (behind >= 0 && isRestAt(literal, behind, next + 5, end)) return true
      } else if (code !== NO_CODE && byteAt(literal + BYTES + place) >= 0xf0) return true
    }
    if (!isByteOf(literal, place, escaped)) return false
    place += 1
    at = next + 1
  }
  return true
}

/** True where a position is in a domain behind an at sign, or directly behind one. */
function isInDomain(at: i32, start: i32): bool {
  let place = at - 1
  while (place >= start && isDomainByte(byteAt(place))) place -= 1
  return place > start && byteAt(place) === AT_SIGN
}

/** The number of a card has as many digits. */
const CARD_DIGITS_MIN: i32 = 12
const CARD_BYTES_MAX: i32 = 40

function isNumberByte(byte: i32): bool {
  return isDigit(byte) || byte === 0x20 || byte === 0x2d
}

/** True when a character may be in the number of a card, or before one. */
function isOfNumber(start: i32, end: i32, at: i32, char: i32, next: i32, isWritten: bool): bool {
  if (!isNumberByte(char)) return !isWritten && digitsFrom(next, end) >= CARD_DIGITS_MIN
  let digits = isDigit(char) ? 1 : 0
  for (let place = at - 1; place >= start && at - place < CARD_BYTES_MAX && isNumberByte(byteAt(place)); place -= 1)
    if (isDigit(byteAt(place))) digits += 1
  return digits + digitsFrom(next, end) >= CARD_DIGITS_MIN
}

/** The digits of what may be the rest of the number of a card, in the reading that has the most. */
function digitsFrom(start: i32, end: i32): i32 {
  let digits = 0
  let at = start
  for (let read = 0; read < CARD_BYTES_MAX && at < end; read += 1) {
    let byte = byteAt(at)
    at += 1
    if (byte === BACKSLASH) {
      const next = endOfBackslashes(at, end)
      if (next >= end) return digits
      byte = byteAt(next)
      at = next + 1
      if (byte === LOWER_U) {
        const code = codeAt(at, end)
        if (code === DEEP) return CARD_DIGITS_MIN
        if (code === NO_CODE) return digits
        byte = code
        at += 4
      }
    }
    if (!isNumberByte(byte)) return digits
    if (isDigit(byte)) digits += 1
  }
  return digits
}
