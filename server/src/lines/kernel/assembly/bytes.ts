import { BYTE_KINDS, ESCAPED_BYTES } from './memory'

export const QUOTE: i32 = 0x22
export const COMMA: i32 = 0x2c
export const COLON: i32 = 0x3a
export const OPEN_ARRAY: i32 = 0x5b
export const BACKSLASH: i32 = 0x5c
export const OPEN_OBJECT: i32 = 0x7b
export const CLOSE_OBJECT: i32 = 0x7d
export const SPACE: i32 = 0x20
/** The first byte in the code of a color of a terminal. */
export const ESCAPE: i32 = 0x1b

const HASH_FACTOR: u64 = (u64(0x9e3779b9) << 32) | u64(0x7f4a7c15)

let secret: u64 = 0

const SCALAR_BYTE: i32 = 1
const BLANK: i32 = 2

/** Fills the classes of bytes, once. */
export function initBytes(secretHigh: i32, secretLow: i32): void {
  secret = (u64(u32(secretHigh)) << 32) | u64(u32(secretLow))
  for (let byte = 0; byte < 128; byte += 1) {
    const lower = byte | 0x20
    const isAlphabetic = lower >= 0x61 && lower <= 0x7a && byte >= 0x41
    const isDigit = byte >= 0x30 && byte <= 0x39
    if (isAlphabetic || isDigit || byte === 0x2b || byte === 0x2d || byte === 0x2e || byte === 0x5f)
      store<u8>(BYTE_KINDS + byte, SCALAR_BYTE)
  }
  store<u8>(BYTE_KINDS + SPACE, BLANK)
  store<u8>(BYTE_KINDS + 0x09, BLANK)
  store<u8>(BYTE_KINDS + 0x0a, BLANK)
  store<u8>(BYTE_KINDS + 0x0d, BLANK)
  store<u8>(ESCAPED_BYTES + 0x62, 0x08)
  store<u8>(ESCAPED_BYTES + 0x66, 0x0c)
  store<u8>(ESCAPED_BYTES + 0x6e, 0x0a)
  store<u8>(ESCAPED_BYTES + 0x72, 0x0d)
  store<u8>(ESCAPED_BYTES + 0x74, 0x09)
  store<u8>(ESCAPED_BYTES + QUOTE, QUOTE)
  store<u8>(ESCAPED_BYTES + BACKSLASH, BACKSLASH)
  store<u8>(ESCAPED_BYTES + 0x2f, 0x2f)
}

export function byteAt(at: i32): i32 {
  return load<u8>(at)
}

export function isScalarByte(at: i32): bool {
  return load<u8>(BYTE_KINDS + byteAt(at)) === SCALAR_BYTE
}

export function afterSpace(start: i32, end: i32): i32 {
  let at = start
  while (at < end && load<u8>(BYTE_KINDS + byteAt(at)) === BLANK) at += 1
  return at
}

export function afterWord(start: i32, end: i32): i32 {
  let at = start
  while (at < end && isScalarByte(at)) at += 1
  return at
}

/** True for the word null. */
export function isNullAt(at: i32, end: i32): bool {
  if (at + 4 > end || load<u32>(at) !== 0x6c6c756e) return false
  return at + 4 === end || !isScalarByte(at + 4)
}

/** Marks the bytes that end a text, begin an escape, or are control characters, among 16. */
function textMarks(at: i32): i32 {
  const bytes = v128.load(at)
  const ends = v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c)))
  return i8x16.bitmask(v128.or(ends, i8x16.lt_u(bytes, i8x16.splat(0x20))))
}

/** The next byte that ends a text, begins an escape or is a control character; beyond `end` for none. */
export function afterPlain(start: i32, end: i32): i32 {
  let at = start
  while (at < end) {
    const marks = textMarks(at)
    if (marks !== 0) return at + ctz(marks)
    at += 16
  }
  return at
}

/** The closing quote of the text that begins at `start`; -1 for none. */
export function endOfText(start: i32, end: i32): i32 {
  let at = afterPlain(start, end)
  while (at < end) {
    const byte = byteAt(at)
    if (byte === QUOTE) return at
    at = afterPlain(byte === BACKSLASH ? at + 2 : at + 1, end)
  }
  return -1
}

/** Marks quotes and brackets among 16 bytes. Setting a bit makes the brackets of arrays and objects alike. */
function bracketMarks(at: i32): i32 {
  const bytes = v128.load(at)
  const alike = v128.or(bytes, i8x16.splat(0x20))
  const brackets = v128.or(i8x16.eq(alike, i8x16.splat(0x7b)), i8x16.eq(alike, i8x16.splat(0x7d)))
  return i8x16.bitmask(v128.or(brackets, i8x16.eq(bytes, i8x16.splat(0x22))))
}

/** The position behind the bracket that closes the one at `start`; -1 for none. The kinds of brackets need not match. */
export function endOfBrackets(start: i32, end: i32): i32 {
  let depth = 0
  let at = start
  while (at < end) {
    const marks = bracketMarks(at)
    at += marks === 0 ? 16 : ctz(marks)
    if (marks === 0 || at >= end) continue
    const byte = byteAt(at)
    at += 1
    if (byte === QUOTE) {
      at = endOfText(at, end)
      if (at < 0) return -1
      at += 1
    } else if ((byte | 0x20) === OPEN_OBJECT) depth += 1
    else {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}

export function hasNul(start: i32, end: i32): bool {
  for (let at = start; at < end; at += 16) {
    const marks = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(0)))
    if (marks !== 0 && at + ctz(marks) < end) return true
  }
  return false
}

export function isSame(one: i32, other: i32, length: i32): bool {
  let at = 0
  for (; at + 16 <= length; at += 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(one + at), v128.load(other + at))) !== 0xffff) return false
  }
  if (at >= length) return true
  const mask = (1 << (length - at)) - 1
  return (i8x16.bitmask(i8x16.eq(v128.load(one + at), v128.load(other + at))) & mask) === mask
}

/** Copies bytes; up to 15 more may be written behind them. */
export function copyBytes(to: i32, from: i32, length: i32): void {
  if (length > 128) {
    memory.copy(to, from, length)
    return
  }
  for (let at = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at))
}

/** Hashes bytes eight at a time, for the tables of this module only. Senders cannot know which texts share a place, since they do not know the secret. */
export function hashOf(start: i32, length: i32, seed: i32): i32 {
  let hash: u64 = secret ^ (u64(u32(seed)) << 32) ^ u64(u32(length))
  let at = 0
  for (; at + 8 <= length; at += 8) hash = (rotl<u64>(hash, 23) ^ load<u64>(start + at)) * HASH_FACTOR
  if (at < length) {
    const rest = load<u64>(start + at) & ((u64(1) << (u64(length - at) << 3)) - 1)
    hash = (rotl<u64>(hash, 23) ^ rest) * HASH_FACTOR
  }
  return i32(hash ^ (hash >> 29) ^ (hash >> 47))
}
