import { BACKSLASH, byteAt, isWordByte, QUOTE } from './bytes'

/** The strings (without their quotes), numbers and words of a JSON line. A string that does not end reaches to the end of the line. */
let tokenEnd: i32 = 0
let isText: bool = false

/** The position of the next token; the end for none. */
export function tokenFrom(start: i32, end: i32): i32 {
  for (let at = start; at < end; at += 1) {
    const byte = byteAt(at)
    if (byte === QUOTE) {
      tokenEnd = endOfText(at + 1, end)
      isText = true
      return at + 1
    }
    if (isWordOfJson(byte)) {
      tokenEnd = at + 1
      while (tokenEnd < end && isWordOfJson(byteAt(tokenEnd))) tokenEnd += 1
      isText = false
      return at
    }
  }
  return end
}

export function endOfToken(): i32 {
  return tokenEnd
}

export function isTokenText(): bool {
  return isText
}

function isWordOfJson(byte: i32): bool {
  return isWordByte(byte) || byte === 0x2b || byte === 0x2d || byte === 0x2e
}

/** The position of the quote that ends a string, or the end. */
function endOfText(start: i32, end: i32): i32 {
  const quote = i8x16.splat(<i8>QUOTE)
  const backslash = i8x16.splat(<i8>BACKSLASH)
  let at = start
  while (at < end) {
    const bytes = v128.load(at)
    const mask = i8x16.bitmask(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)))
    if (mask === 0) {
      at += 16
      continue
    }
    at += ctz(mask)
    if (at >= end) return end
    if (byteAt(at) === QUOTE) return at
    at += 2
  }
  return end
}
