import { byteAt } from './bytes'

export function isUtf8(start: i32, end: i32): bool {
  let at = start
  while (at < end) {
    const marks = i8x16.bitmask(v128.load(at))
    if (marks === 0) {
      at += 16
      continue
    }
    at += ctz(marks)
    // The characters up to the next ASCII one.
    while (at < end && byteAt(at) > 0x7f) {
      const needed = charLength(byteAt(at))
      if (validLength(at, end, needed) !== needed) return false
      at += needed
    }
  }
  return true
}

/** Writes the bytes with replacement characters where they are not UTF-8, as a string has them. Returns the end of what it wrote. */
export function repair(start: i32, end: i32, to: i32): i32 {
  let put = to
  let at = start
  while (at < end) {
    const byte = byteAt(at)
    if (byte <= 0x7f) {
      store<u8>(put, byte)
      put += 1
      at += 1
      continue
    }
    const needed = charLength(byte)
    const valid = validLength(at, end, needed)
    if (valid === needed) {
      for (let place = 0; place < valid; place += 1) store<u8>(put + place, byteAt(at + place))
      put += valid
    } else {
      store<u8>(put, 0xef)
      store<u8>(put + 1, 0xbf)
      store<u8>(put + 2, 0xbd)
      put += 3
    }
    at += max(valid, 1)
  }
  return put
}

/** The length of a character by its first byte; 5, which none has, for a byte that begins none. */
function charLength(first: i32): i32 {
  if (first < 0xc2 || first > 0xf4) return 5
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}

/** How many bytes of a character are there. The second byte has other bounds behind some first ones. */
function validLength(start: i32, end: i32, needed: i32): i32 {
  if (needed === 5) return 0
  const first = byteAt(start)
  let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  let at = start + 1
  for (; at < start + needed && at < end; at += 1) {
    const byte = byteAt(at)
    if (byte < low || byte > high) break
    low = 0x80
    high = 0xbf
  }
  return at - start
}

/** Writes a character that is at least U+0080 or ASCII. Returns the position behind it. */
export function putChar(at: i32, code: i32): i32 {
  if (code < 0x80) {
    store<u8>(at, code)
    return at + 1
  }
  if (code < 0x800) {
    store<u8>(at, 0xc0 | (code >> 6))
    store<u8>(at + 1, 0x80 | (code & 63))
    return at + 2
  }
  if (code < 0x10000) {
    store<u8>(at, 0xe0 | (code >> 12))
    store<u8>(at + 1, 0x80 | ((code >> 6) & 63))
    store<u8>(at + 2, 0x80 | (code & 63))
    return at + 3
  }
  store<u8>(at, 0xf0 | (code >> 18))
  store<u8>(at + 1, 0x80 | ((code >> 12) & 63))
  store<u8>(at + 2, 0x80 | ((code >> 6) & 63))
  store<u8>(at + 3, 0x80 | (code & 63))
  return at + 4
}
