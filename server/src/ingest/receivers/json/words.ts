/** Four equal bytes of a word. */
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const ONES = 0x01010101
const HIGH_BITS = 0x80808080
export const WORD_BYTES = 4

/** Goes over the bytes of a text, four at a time, up to a word that has a quote or a backslash, or to the last bytes before the end. */
export function skipPlain(view: DataView, start: number, end: number): number {
  let at = start
  for (const last = end - WORD_BYTES; at <= last; at += WORD_BYTES) {
    const word = view.getInt32(at, true)
    const quotes = word ^ QUOTES
    const backslashes = word ^ BACKSLASHES
    // A byte that is zero borrows from its highest bit.
    if (((((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes)) & HIGH_BITS) !== 0) break
  }
  return at
}

/** True when two parts of the bytes are equal. */
export function isEqualPart(view: DataView, one: number, other: number, length: number): boolean {
  if (length < WORD_BYTES) {
    for (let at = 0; at < length; at += 1) if (view.getUint8(one + at) !== view.getUint8(other + at)) return false
    return true
  }
  const last = length - WORD_BYTES
  for (let at = 0; at < last; at += WORD_BYTES) if (view.getInt32(one + at, true) !== view.getInt32(other + at, true)) return false
  return view.getInt32(one + last, true) === view.getInt32(other + last, true)
}
