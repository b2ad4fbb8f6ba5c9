const ASCII_MAX = 0x7f
/** U+FFFD, which takes at most three bytes for each byte that it replaces. */
const [FIRST, SECOND, THIRD] = [0xef, 0xbf, 0xbd]
const REPLACEMENT_BYTES = 3

/** The bytes as UTF-8, with replacement characters where they are not: the bytes of the string that a Buffer gives. */
export function repaired(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length * REPLACEMENT_BYTES)
  let used = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number
    if (byte <= ASCII_MAX) {
      out[used++] = byte
      at += 1
      continue
    }
    const needed = charLength(byte)
    const valid = validLength(bytes, at, needed)
    if (valid === needed) for (let place = at; place < at + valid; place += 1) out[used++] = bytes[place] as number
    else {
      out[used++] = FIRST
      out[used++] = SECOND
      out[used++] = THIRD
    }
    at += Math.max(1, valid)
  }
  return out.subarray(0, used)
}

/** The length of a character by its first byte; 5, which none has, for a byte that begins none. */
function charLength(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 5
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}

/** How many bytes of a character are there. The second byte has other bounds behind some first ones. */
function validLength(bytes: Uint8Array, start: number, needed: number): number {
  if (needed === 5) return 0
  const first = bytes[start] as number
  let low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  let high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  let at = start + 1
  for (; at < start + needed && at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (byte < low || byte > high) break
    low = 0x80
    high = 0xbf
  }
  return at - start
}
