import { afterPlain, BACKSLASH, byteAt, copyBytes, QUOTE } from './bytes'
import { ESCAPED_BYTES } from './memory'
import { putChar } from './utf8'

/** The encodings of leaf-text.ts, and NO_ENCODING for a text that none writes so. */
const PLAIN: i32 = 0
const ASCII: i32 = 1
const HTML: i32 = 2
export const NO_ENCODING: i32 = 3

/** The encodings that may have written what was read so far. */
const MAY_PLAIN: i32 = 1
const MAY_ASCII: i32 = 2
const MAY_HTML: i32 = 4

const REPLACEMENT: i32 = 0xfffd

/** Where decoded texts are put, and the results of the last one. */
let scratch: i32 = 0
export function setScratch(at: i32): void {
  scratch = at
}
export function scratchEnd(): i32 {
  return scratch
}
let textEncoding: i32 = 0
export function encodingOfText(): i32 {
  return textEncoding
}

/**
 * Decodes the text from `start`, whose first escape or control character is at `first`, up to its closing quote, as decodeText does. Returns the position of the
 * quote, -1 for none. The decoded text lies from the earlier to the present end of the scratch.
 */
export function decodeText(start: i32, first: i32, end: i32): i32 {
  let put = scratch
  copyBytes(put, start, first - start)
  put += first - start
  let at = first
  let may = MAY_PLAIN | MAY_ASCII | MAY_HTML
  /** A high surrogate that waits for its other half. */
  let half = 0
  for (;;) {
    if (at >= end) return -1
    const byte = byteAt(at)
    if (byte === QUOTE) break
    let code = byte
    if (byte === BACKSLASH) {
      at += 1
      if (at >= end) return -1
      const lower = byteAt(at)
      const short = i32(load<u8>(ESCAPED_BYTES + lower))
      if (short !== 0) {
        code = short
        if (lower === 0x2f) may = 0
        at += 1
      } else {
        const written = lower === 0x75 ? hexAt(at + 1) : -1
        if (written < 0) {
          code = BACKSLASH
          may = 0
        } else {
          code = written & 0xffff
          may &= encodingsOf(code, written > 0xffff)
          at += 5
        }
      }
      if (code >= 0xd800 && code < 0xe000) {
        if (code < 0xdc00) {
          if (half !== 0) {
            put = putChar(put, REPLACEMENT)
            may = 0
          }
          half = code
          continue
        }
        if (half === 0) {
          code = REPLACEMENT
          may = 0
        } else code = 0x10000 + ((half - 0xd800) << 10) + (code - 0xdc00)
        half = 0
      }
    } else if (byte < 0x20) {
      may = 0
      at += 1
    } else {
      if (half !== 0) {
        put = putChar(put, REPLACEMENT)
        half = 0
        may = 0
      }
      const next = afterPlain(at, end)
      if (next >= end) return -1
      copyBytes(put, at, next - at)
      put += next - at
      at = next
      continue
    }
    // A text has no NUL, so that it does not part the halves of a character.
    if (code === 0) continue
    if (half !== 0) {
      put = putChar(put, REPLACEMENT)
      half = 0
      may = 0
    }
    put = putChar(put, code)
  }
  if (half !== 0) {
    put = putChar(put, REPLACEMENT)
    may = 0
  }
  textEncoding = may & MAY_PLAIN ? PLAIN : may === 0 ? NO_ENCODING : encodingByPlain(start, at, may)
  scratch = put
  return at
}

/** Encodings that escape more must have escaped all of it. */
function encodingByPlain(start: i32, end: i32, given: i32): i32 {
  let may = given
  let at = start
  while (at < end) {
    const byte = byteAt(at)
    if (byte === BACKSLASH) {
      at += 2
      continue
    }
    if (byte > 0x7e) may &= ~MAY_ASCII
    if (byte === 0x3c || byte === 0x3e || byte === 0x26) may &= ~MAY_HTML
    if (byte === 0xe2 && byteAt(at + 1) === 0x80 && (byteAt(at + 2) | 1) === 0xa9) may &= ~MAY_HTML
    at += 1
  }
  return may & MAY_ASCII ? ASCII : may & MAY_HTML ? HTML : NO_ENCODING
}

/** The encodings that write a character by its number. */
function encodingsOf(code: i32, isUpper: bool): i32 {
  if (isUpper || code === 0) return 0
  if (code < 0x20) return code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 0 : MAY_PLAIN | MAY_ASCII | MAY_HTML
  if (code === 0x3c || code === 0x3e || code === 0x26) return MAY_HTML
  if (code === 0x2028 || code === 0x2029) return MAY_ASCII | MAY_HTML
  return code > 0x7e ? MAY_ASCII : 0
}

/** The number of four hexadecimal digits, more than 0xffff when some are capitals; -1 for others. */
function hexAt(start: i32): i32 {
  let number = 0
  let isUpper = 0
  for (let at = start; at < start + 4; at += 1) {
    const byte = byteAt(at)
    let digit = byte - 0x30
    if (digit < 0 || digit > 9) {
      digit = byte - 0x57
      if (digit < 10 || digit > 15) {
        digit = byte - 0x37
        if (digit < 10 || digit > 15) return -1
        isUpper = 0x10000
      }
    }
    number = (number << 4) | digit
  }
  return number | isUpper
}
