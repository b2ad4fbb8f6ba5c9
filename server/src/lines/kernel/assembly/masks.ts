import { byteAt } from './bytes'
import { KNOWN_MASKS, KNOWN_MASKS_MAX, MASK_KINDS, MASKED, PATTERN } from './memory'
import { writePattern } from './pattern'

/** The masks of skeleton.ts, which defines them. */
const MASKED_BYTES_MAX: i32 = 1024
const MASK: i32 = 0
const LINE_FEED: i32 = 0x0a
const SPACE: i32 = 0x20
const QUOTED_BYTES_MAX: i32 = 256
const UNIT_CHARS_MAX: i32 = 3
const LONG_HEX_CHARS: i32 = 8
const KEYWORD_CHARS_MIN: i32 = 3
const KEYWORD_CHARS_MAX: i32 = 9

const DIGIT: i32 = 1
const HEX_LETTER: i32 = 2
const LETTER: i32 = 4
const BLANK: i32 = 8
const JOINT: i32 = 16
const QUOTE_SIGN: i32 = 32
const ALPHANUMERIC: i32 = 7
const HEX: i32 = 3

export function initMasks(): void {
  for (let byte = 0; byte < 256; byte += 1) store<u8>(MASK_KINDS + byte, kindOf(byte))
}

function kindOf(byte: i32): i32 {
  if (byte >= 0x80) return LETTER
  if (byte >= 0x30 && byte <= 0x39) return DIGIT
  const lower = byte | 0x20
  if (byte >= 0x41 && lower >= 0x61 && lower <= 0x66) return HEX_LETTER
  if (byte >= 0x41 && lower >= 0x67 && lower <= 0x7a) return LETTER
  if (byte === SPACE || byte === 0x09 || byte === 0x0d || byte === LINE_FEED) return BLANK
  if (byte === 0x2e || byte === 0x3a || byte === 0x2c || byte === 0x2d || byte === 0x2f || byte === 0x2b) return JOINT
  return byte === 0x22 || byte === 0x27 || byte === 0x60 ? QUOTE_SIGN : 0
}

function kindAt(at: i32): i32 {
  return load<u8>(MASK_KINDS + byteAt(at))
}

let high: i32 = 0
let low: i32 = 0
export function hashHigh(): i32 {
  return high
}
export function hashLow(): i32 {
  return low
}

/** The end of what is masked, and of the last mask in it; the position of the first byte before the first mask. */
let used: i32 = 0
let maskEnd: i32 = 0

/** Hashes the message without its variable parts, as skeletonHash does. */
export function hashMessage(start: i32, end: i32): void {
  mask(start, end)
  hashWords(MASKED, used - MASKED)
  const place = KNOWN_MASKS + (low & (KNOWN_MASKS_MAX - 1)) * 16
  if (load<i32>(place) === high && load<i32>(place, 4) === low) {
    high = load<i32>(place, 8)
    low = load<i32>(place, 12)
    return
  }
  store<i32>(place, high)
  store<i32>(place, low, 4)
  const patternEnd = writePattern(MASKED, used)
  hashWords(PATTERN, patternEnd - PATTERN)
  store<i32>(place, high, 8)
  store<i32>(place, low, 12)
}

/** Hashes four bytes at a time; the bytes behind the last ones count as 0. */
export function hashWords(start: i32, length: i32): void {
  store<i32>(start + length, 0)
  let a = length
  let b = ~length
  for (let at = 0; at < length; at += 4) {
    const word = load<i32>(start + at)
    a = (a ^ (word * 0x85ebca6b)) * 0x9e3779b1
    a ^= a >>> 15
    b = (rotl<i32>(b, 13) * 5) ^ ((word ^ (word >>> 16)) * 0xc2b2ae35)
  }
  a = (a ^ (b >>> 16)) * 0x21f0aaad
  b = (b ^ (a >>> 15)) * 0x735a2d97
  high = a ^ (b >>> 15)
  low = b ^ (high >>> 14)
  if (low === 0) low = 1
  if (length > 0) return
  high = 0
  low = 0
}

/** Masks the message at MASKED; `used` is the end. */
function mask(start: i32, messageEnd: i32): void {
  const end = min(messageEnd, start + MASKED_BYTES_MAX)
  let put = MASKED
  maskEnd = 0
  let at = start
  while (at < end) {
    const kind = kindAt(at)
    if (kind & ALPHANUMERIC) {
      // Most words are unchanged, so they are copied while they are checked.
      const from = at
      const before = put
      let seen = 0
      let next = kind
      do {
        seen |= next
        store<u8>(put, byteAt(at))
        put += 1
        at += 1
        if (at === end) break
        next = kindAt(at)
      } while (next & ALPHANUMERIC)
      if ((seen & DIGIT) !== 0 || seen === HEX_LETTER) {
        used = before
        at = word(from, at, end, messageEnd, seen)
        put = used
      }
    } else if (kind === BLANK) {
      if (put > MASKED && byteAt(put - 1) !== SPACE) {
        store<u8>(put, SPACE)
        put += 1
      }
      at += 1
    } else if (kind === QUOTE_SIGN) {
      used = put
      at = quote(start, at, end)
      put = used
    } else {
      store<u8>(put, byteAt(at))
      put += 1
      at += 1
    }
  }
  used = put > MASKED && byteAt(put - 1) === SPACE ? put - 1 : put
}

/** Masks or copies a word that may be variable. Returns the position behind it. */
function word(from: i32, to: i32, end: i32, messageEnd: i32, seen: i32): i32 {
  if (to - from === 8 && (seen & LETTER) === 0 && isUuid(from, end)) {
    putMask()
    return from + 36
  }
  if (seen & DIGIT) putNumbered(from, to, seen)
  else if (isHexadecimal(from, to, end, messageEnd)) putMask()
  else put(from, to)
  return to
}

function put(from: i32, to: i32): void {
  for (let at = from; at < to; at += 1) {
    store<u8>(used, byteAt(at))
    used += 1
  }
}

function putByte(byte: i32): void {
  store<u8>(used, byte)
  used += 1
}

/** Masks a word with digits. Letters around the digits stay where they look like a name or a unit. */
function putNumbered(from: i32, to: i32, seen: i32): void {
  if ((seen & LETTER) === 0) {
    putMask()
    return
  }
  let letters = from
  while (kindAt(letters) !== DIGIT) letters += 1
  let digits = letters
  while (digits < to && kindAt(digits) === DIGIT) digits += 1
  if (digits === to) {
    put(from, letters)
    putMask()
    return
  }
  putMask()
  if (letters !== from || to - digits > UNIT_CHARS_MAX) return
  for (let at = digits; at < to; at += 1) if (kindAt(at) === DIGIT) return
  put(digits, to)
}

/** True when a word of the letters a to f is a number: it is long, or part of an address. */
function isHexadecimal(at: i32, to: i32, end: i32, messageEnd: i32): bool {
  const length = to - at
  if (length >= LONG_HEX_CHARS) return true
  if (length !== 2 && length !== 4) return false
  const before = byteAt(used - 1)
  if (maskEnd > 0 && maskEnd === used - 1 && (before === 0x3a || before === 0x2d)) return true
  if (to >= messageEnd || byteAt(to) !== 0x3a || to + length >= end) return false
  for (let next = to + 1; next <= to + length; next += 1) if ((kindAt(next) & HEX) === 0) return false
  return length === 4 || (to + 3 < messageEnd && byteAt(to + 3) === 0x3a)
}

function isUuid(at: i32, end: i32): bool {
  if (at + 36 > end) return false
  for (let index = 0; index < 36; index += 1) {
    if (index === 8 || index === 13 || index === 18 || index === 23) {
      if (byteAt(at + index) !== 0x2d) return false
    } else if ((kindAt(at + index) & HEX) === 0) return false
  }
  return true
}

/** Writes a mask. It joins a mask just before when only a JOINT byte lies between; a sign before the value belongs to it. */
function putMask(): void {
  const last = used > MASKED ? byteAt(used - 1) : 0
  const between = used - maskEnd
  if (maskEnd > 0 && (between === 0 || (between <= 2 && i32(load<u8>(MASK_KINDS + last)) === JOINT && byteAt(maskEnd) === last))) {
    used = maskEnd
    return
  }
  const isSigned = used > MASKED && (last === 0x2d || last === 0x2b)
  if (isSigned && (used - 2 < MASKED || (kindAt(used - 2) & ALPHANUMERIC) === 0)) used -= 1
  putByte(MASK)
  maskEnd = used
}

/** Masks the text between two quotes of one kind. An apostrophe, or a quote without a nearby partner, is an ordinary character. */
function quote(start: i32, at: i32, end: i32): i32 {
  const sign = byteAt(at)
  const isFirst = used === MASKED
  const isAfterWord = at > start && (kindAt(at - 1) & ALPHANUMERIC) !== 0
  const limit = min(end, at + QUOTED_BYTES_MAX)
  let close = isAfterWord ? limit : at + 1
  while (close < limit && byteAt(close) !== LINE_FEED && !closesQuote(close, sign, end)) close += 1
  putByte(sign)
  if (close >= limit || byteAt(close) !== sign) return at + 1
  // A message that begins with a quoted sentence is that sentence.
  if (isFirst) for (let place = at; place < close; place += 1) if (byteAt(place) === SPACE) return at + 1
  putKeyword(at + 1, close)
  putByte(MASK)
  putByte(sign)
  maskEnd = 0
  return close + 1
}

/** True for a quote that no letter or digit follows. */
function closesQuote(at: i32, sign: i32, end: i32): bool {
  return byteAt(at) === sign && (at + 1 >= end || (kindAt(at + 1) & ALPHANUMERIC) === 0)
}

/** Keeps a keyword in capitals at the start of a quoted text, such as the method of a request. */
function putKeyword(start: i32, end: i32): void {
  let at = start
  while (at < end && byteAt(at) >= 0x41 && byteAt(at) <= 0x5a) at += 1
  if (at - start < KEYWORD_CHARS_MIN || at - start > KEYWORD_CHARS_MAX || at + 1 >= end || byteAt(at) !== SPACE) return
  put(start, at + 1)
}
