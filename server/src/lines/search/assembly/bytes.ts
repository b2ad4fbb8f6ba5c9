export const BACKSLASH: i32 = 0x5c
export const QUOTE: i32 = 0x22
export const LINE_FEED: i32 = 0x0a
export const AT_SIGN: i32 = 0x40
export const DOT: i32 = 0x2e

export function byteAt(at: i32): i32 {
  return i32(load<u8>(at))
}

export function isDigit(byte: i32): bool {
  return byte >= 0x30 && byte <= 0x39
}

export function isWordByte(byte: i32): bool {
  const lower = byte | 0x20
  return isDigit(byte) || byte === 0x5f || (lower >= 0x61 && lower <= 0x7a && byte >= 0x41)
}

export function isBlank(byte: i32): bool {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d
}

/** A letter of any script. */
export function isAlphabetic(byte: i32): bool {
  return byte >= 0x80 || (isWordByte(byte) && !isDigit(byte) && byte !== 0x5f)
}

/** A letter or digit of any script, a hyphen or a dot. */
export function isDomainByte(byte: i32): bool {
  return byte >= 0x80 || byte === 0x2d || byte === DOT || (isWordByte(byte) && byte !== 0x5f)
}

/** The value of a hexadecimal digit, -1 for another byte. */
export function hexValue(byte: i32): i32 {
  if (isDigit(byte)) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** What a backslash and a letter of JSON stand for, -1 for another byte. */
export function controlOf(byte: i32): i32 {
  if (byte === 0x6e) return 0x0a
  if (byte === 0x74) return 0x09
  if (byte === 0x72) return 0x0d
  if (byte === 0x62) return 0x08
  return byte === 0x66 ? 0x0c : -1
}

/** The next of a byte, or the end. */
export function placeOf(byte: i32, start: i32, end: i32): i32 {
  const wanted = i8x16.splat(<i8>byte)
  for (let at = start; at < end; at += 16) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(at), wanted))
    if (mask !== 0) return min(at + ctz(mask), end)
  }
  return end
}

/** The position behind the last line feed before a position, or the start. */
export function startOfLine(at: i32, start: i32): i32 {
  let place = at
  const wanted = i8x16.splat(<i8>LINE_FEED)
  while (place - 16 >= start) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(place - 16), wanted))
    if (mask !== 0) return place - 16 + 32 - clz(mask)
    place -= 16
  }
  while (place > start && byteAt(place - 1) !== LINE_FEED) place -= 1
  return place
}
