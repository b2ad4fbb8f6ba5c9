import { AT_SIGN, BACKSLASH, byteAt, DOT, isAlphabetic, isBlank, isDomainByte, isWordByte, QUOTE } from './bytes'
import { beginsAt, isCard } from './cards'
import { ADDRESS, CARD, ESCAPE, isBeginAt, LENGTH, START, WORD } from './tables'

/** True when a literal is at a position of a text. */
export function isAt(tables: i32, literal: i32, at: i32, end: i32, textStart: i32): bool {
  const kind = byteAt(literal)
  if (kind === CARD) return isCard(tables, at, end, textStart)
  if (kind === ESCAPE) return isEscape(at, end)
  if (kind === ADDRESS) return isAddress(at, end, textStart)
  const length = byteAt(literal + LENGTH)
  if (at + length > end || !isBeginAt(literal, length, at)) return false
  if (kind === START) return beginsAt(at, textStart)
  return kind !== WORD || isWordAt(at, at + length, end, textStart)
}

/** A word stands between bytes that no word has, or behind a usual escape, and is no name of JSON. */
function isWordAt(start: i32, wordEnd: i32, end: i32, textStart: i32): bool {
  if (wordEnd < end && isWordByte(byteAt(wordEnd))) return false
  if (isName(wordEnd, end)) return false
  return beginsAt(start, textStart)
}

/** True before what follows a name of JSON. */
function isName(start: i32, end: i32): bool {
  let at = start
  while (at < end && byteAt(at) === BACKSLASH) at += 1
  if (at >= end || byteAt(at) !== QUOTE) return false
  at += 1
  const last = at + 4
  while (at < end && at < last && isBlank(byteAt(at))) at += 1
  return at < end && byteAt(at) === 0x3a
}

/** An at sign between what may end the name of a mailbox and a domain: with a dot, and a letter behind it. */
function isAddress(at: i32, end: i32, textStart: i32): bool {
  if (byteAt(at) !== AT_SIGN || at === textStart) return false
  const before = byteAt(at - 1)
  // A percent sign and a plus.
  if (!(before === 0x25 || before === 0x2b || before === 0x5f || isDomainByte(before))) return false
  for (let place = at + 1; place < end && isDomainByte(byteAt(place)); place += 1) {
    if (byteAt(place) === DOT && place + 1 < end && isAlphabetic(byteAt(place + 1))) return true
  }
  return false
}

/** A backslash and what is no usual escape: n, r, t, a quote, a backslash or a slash. */
function isEscape(at: i32, end: i32): bool {
  if (at + 1 >= end || byteAt(at) !== BACKSLASH) return false
  const byte = byteAt(at + 1)
  return !(byte === 0x6e || byte === 0x72 || byte === 0x74 || byte === QUOTE || byte === BACKSLASH || byte === 0x2f)
}
