import { byteAt } from './bytes'
import { BLANK, DIGIT, isByte, isKind, isWordAt, kindAt, runEnd, UPPER, WORD } from './text-kinds'

/** Detects exceptions and lines of stack traces as ingest/detect/detect.ts does. */
const EXCEPTION_CHARS: i32 = 1000
const SPACE: i32 = 0x20
const COLON: i32 = 0x3a
const OPENING: i32 = 0x28
const CLOSING: i32 = 0x29
const BRACKET: i32 = 0x5b

/** True for a text that begins with an exception, or contains its type near the beginning. */
export function isException(from: i32, textEnd: i32): bool {
  const to = endOfChars(from, textEnd)
  if (hasType(from, to) || isWordAt(from, to, 'Traceback (most recent call last)') || isWordAt(from, to, 'panic: ')) return true
  if (isWordAt(from, to, 'goroutine ')) {
    const end = runEnd(from + 10, to, DIGIT)
    if (end > from + 10 && isByte(end, to, SPACE) && isByte(end + 1, to, BRACKET)) return true
  }
  return isTraceLine(from, to)
}

/** The end of as many characters as are looked at, counted as in a string. */
function endOfChars(from: i32, to: i32): i32 {
  let end = from + EXCEPTION_CHARS
  if (end >= to) return to
  for (let at = from; at < end && at < to; at += 1) {
    const byte = byteAt(at)
    if (byte < 0x80) continue
    if (byte < 0xc0) end += 1
    else if (byte >= 0xf0) end = max(end - 1, at + 1)
  }
  return min(end, to)
}

/** A type such as `java.io.IOException:`. */
function hasType(from: i32, to: i32): bool {
  const capital = i8x16.splat(0x45)
  const small = i8x16.splat(0x78)
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at)
    const next = v128.load(at, 1)
    const errors = v128.and(i8x16.eq(bytes, capital), i8x16.eq(next, i8x16.splat(0x72)))
    const others = v128.and(i8x16.eq(bytes, small), i8x16.eq(next, i8x16.splat(0x63)))
    let marks = i8x16.bitmask(v128.or(errors, others))
    while (marks !== 0) {
      const place = at + ctz(marks)
      if (place >= to) return false
      if (isType(place, from, to)) return true
      marks &= marks - 1
    }
  }
  return false
}

function isType(place: i32, from: i32, to: i32): bool {
  let name = place
  let end = place + 5
  if (byteAt(place) === 0x78) {
    name = place - 1
    end = place + 8
    if (name < from || !isWordAt(name, to, 'Exception')) return false
  } else if (!isWordAt(place, to, 'Error')) return false
  if (end < to && byteAt(end) !== COLON && byteAt(end) !== OPENING) return false
  let start = name
  while (start > from && (kindAt(start - 1) & WORD) !== 0) start -= 1
  return start < name && isKind(start, to, UPPER)
}

/** True for `at name(place)` with nothing behind it. */
function isTraceLine(from: i32, to: i32): bool {
  const at = runEnd(from, to, BLANK)
  if (!isWordAt(at, to, 'at ') || byteAt(to - 1) !== CLOSING || (kindAt(at + 3) & BLANK) !== 0) return false
  let hasOpening = false
  for (let place = at + 3; place < to; place += 1) {
    const byte = byteAt(place)
    if (byte === 0x0a || byte === 0x0d) return false
    if (byte === OPENING && place > at + 3) hasOpening = true
  }
  return hasOpening
}
