import { patternOf } from './pattern.ts'

/** An unsigned 64-bit number in two halves: numbers hold only 53 bits, and bigints are slow. */
export type Hash64 = { readonly high: number; readonly low: number }
export const hashToBigint = ({ high, low }: Hash64): bigint => (BigInt(high) << 32n) | BigInt(low)

/** Only this much of a message is masked; messages rarely differ only later. */
const MASKED_BYTES_MAX = 1_024
/** The byte of pattern.ts's MASK. */
const MASK = 0
const LINE_FEED = 0x0a
const SPACE = 0x20
const QUOTED_BYTES_MAX = 256
/** The maximum length of a unit after a number, as in 12ms. */
const UNIT_CHARS_MAX = 3
const LONG_HEX_CHARS = 8
/** The bounds of a keyword in a quoted text. */
const KEYWORD_CHARS_MIN = 3
const KEYWORD_CHARS_MAX = 9

const DIGIT = 1
const HEX_LETTER = 2
const LETTER = 4
const BLANK = 8
/** JOINT bytes between two masks join them into one value: addresses, dates, decimals, versions. */
const JOINT = 16
const QUOTE_SIGN = 32
const ALPHANUMERIC = DIGIT | HEX_LETTER | LETTER

const kinds = makeKinds()

function makeKinds(): Uint8Array {
  const made = new Uint8Array(256)
  const mark = (chars: string, kind: number) => {
    for (const char of chars) made[char.charCodeAt(0)] = kind
  }
  mark('0123456789', DIGIT)
  mark('abcdefABCDEF', HEX_LETTER)
  mark('ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ', LETTER)
  mark(' \t\r\n', BLANK)
  mark('.:,-/+', JOINT)
  mark('"\'`', QUOTE_SIGN)
  made.fill(LETTER, 0x80)
  return made
}

/**
 * Masks the variable parts of messages: numbers, hexadecimal words, identifiers, addresses and quoted parts become one mask each.
 * pattern.ts then removes the non-numeric variable parts. The result is the skeleton. This is the definition; kernel/ computes the same hashes faster.
 */
class Masker {
  /** Fits a message of empty quotes, which grow by half, and the last word. */
  private readonly out = new Uint8Array(MASKED_BYTES_MAX * 1.5 + 8)
  private used = 0
  /** The end of the last mask in `out`, 0 before the first. */
  private maskEnd = 0

  masked(bytes: Uint8Array, start = 0, end = bytes.length): string {
    this.mask(bytes, start, end)
    return this.maskedText()
  }

  private maskedText(): string {
    return Buffer.from(this.out.buffer, 0, this.used).toString('utf8')
  }

  private mask(bytes: Uint8Array, start: number, messageEnd: number): void {
    const end = Math.min(messageEnd, start + MASKED_BYTES_MAX)
    const { out } = this
    let used = 0
    this.maskEnd = 0
    for (let at = start; at < end; ) {
      const byte = bytes[at] as number
      const kind = kinds[byte] as number
      if (kind & ALPHANUMERIC) {
        // Most words are unchanged, so they are copied while they are checked.
        const from = at
        let put = used
        let seen = 0
        for (let next = kind; next & ALPHANUMERIC; next = kinds[bytes[at] as number] as number) {
          seen |= next
          out[put++] = bytes[at++] as number
          // A read beyond the bytes is slow.
          if (at === end) break
        }
        if (seen & DIGIT || seen === HEX_LETTER) {
          this.used = used
          at = this.word(bytes, from, at, end, seen)
          used = this.used
        } else used = put
      } else if (kind === BLANK) {
        if (used > 0 && out[used - 1] !== SPACE) out[used++] = SPACE
        at += 1
      } else if (kind === QUOTE_SIGN) {
        this.used = used
        at = this.quote(bytes, start, at, end)
        used = this.used
      } else {
        out[used++] = byte
        at += 1
      }
    }
    this.used = used > 0 && out[used - 1] === SPACE ? used - 1 : used
  }

  /** Masks or copies a possibly variable word and returns the position after it. */
  private word(bytes: Uint8Array, from: number, to: number, end: number, seen: number): number {
    const uuidEnd = to - from === 8 && !(seen & LETTER) ? this.uuid(bytes, from, end) : 0
    if (uuidEnd > 0) {
      this.putMask()
      return uuidEnd
    }
    if (seen & DIGIT) this.numbered(bytes, from, to, seen)
    else if (this.isHexadecimal(bytes, from, to, end)) this.putMask()
    else this.put(bytes, from, to)
    return to
  }

  private put(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) this.out[this.used++] = bytes[at] as number
  }

  /** Masks a word with digits. Letters around the digits stay where they look like a name or a unit. */
  private numbered(bytes: Uint8Array, from: number, to: number, seen: number): void {
    if (!(seen & LETTER)) {
      this.putMask()
      return
    }
    let letters = from
    while (kinds[bytes[letters] as number] !== DIGIT) letters += 1
    let digits = letters
    while (digits < to && kinds[bytes[digits] as number] === DIGIT) digits += 1
    if (digits === to) {
      this.put(bytes, from, letters)
      this.putMask()
      return
    }
    this.putMask()
    if (letters === from && to - digits <= UNIT_CHARS_MAX && onlyLetters(bytes, digits, to)) this.put(bytes, digits, to)
  }

  /** True when a word of the letters a to f is a number: it is long, or part of an address. */
  private isHexadecimal(bytes: Uint8Array, at: number, to: number, end: number): boolean {
    const length = to - at
    if (length >= LONG_HEX_CHARS) return true
    if (length !== 2 && length !== 4) return false
    const before = this.out[this.used - 1]
    if (this.maskEnd > 0 && this.maskEnd === this.used - 1 && (before === 0x3a || before === 0x2d)) return true
    if (bytes[to] !== 0x3a || to + length >= end) return false
    for (let next = to + 1; next <= to + length; next += 1) if (!((kinds[bytes[next] ?? 0] ?? 0) & (DIGIT | HEX_LETTER))) return false
    return length === 4 || bytes[to + 3] === 0x3a
  }

  /** Returns the end of the UUID that begins at `at`, 0 for none. */
  private uuid(bytes: Uint8Array, at: number, end: number): number {
    if (at + 36 > end) return 0
    for (let index = 0; index < 36; index += 1) {
      const byte = bytes[at + index] ?? 0
      const dash = index === 8 || index === 13 || index === 18 || index === 23
      if (dash ? byte !== 0x2d : !((kinds[byte] ?? 0) & (DIGIT | HEX_LETTER))) return 0
    }
    return at + 36
  }

  /** Writes a mask. It joins a mask just before when only a JOINT byte lies between; a sign before the value belongs to it. */
  private putMask(): void {
    const { out } = this
    const last = out[this.used - 1] ?? 0
    const between = this.used - this.maskEnd
    if (this.maskEnd > 0 && (between === 0 || (between <= 2 && kinds[last] === JOINT && out[this.maskEnd] === last))) {
      this.used = this.maskEnd
      return
    }
    if (this.used > 0 && (last === 0x2d || last === 0x2b) && !((kinds[out[this.used - 2] ?? 0] ?? 0) & ALPHANUMERIC)) this.used -= 1
    out[this.used++] = MASK
    this.maskEnd = this.used
  }

  /** Masks the text between two quotes of one kind. An apostrophe, or a quote without a nearby partner, is an ordinary character. */
  private quote(bytes: Uint8Array, start: number, at: number, end: number): number {
    const sign = bytes[at] ?? 0
    const isFirst = this.used === 0
    const afterWord = at > start && (kinds[bytes[at - 1] ?? 0] ?? 0) & ALPHANUMERIC
    const limit = Math.min(end, at + QUOTED_BYTES_MAX)
    let close = afterWord ? limit : at + 1
    while (close < limit && bytes[close] !== LINE_FEED && !closesQuote(bytes, close, sign, end)) close += 1
    this.out[this.used++] = sign
    if (close >= limit || bytes[close] !== sign) return at + 1
    // A message that begins with a quoted sentence is that sentence.
    if (isFirst && bytes.indexOf(SPACE, at) < close && bytes.indexOf(SPACE, at) > 0) return at + 1
    this.keyword(bytes, at + 1, close)
    this.out[this.used++] = MASK
    this.out[this.used++] = sign
    this.maskEnd = 0
    return close + 1
  }

  /** Keeps a keyword in capitals at the start of a quoted text, such as the method of a request. */
  private keyword(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    while (at < end && (bytes[at] as number) >= 0x41 && (bytes[at] as number) <= 0x5a) at += 1
    if (at - start < KEYWORD_CHARS_MIN || at - start > KEYWORD_CHARS_MAX || at + 1 >= end || bytes[at] !== SPACE) return
    this.put(bytes, start, at + 1)
  }
}

/** True for a quote that no letter or digit follows. */
function closesQuote(bytes: Uint8Array, at: number, sign: number, end: number): boolean {
  return bytes[at] === sign && (at + 1 >= end || !((kinds[bytes[at + 1] as number] as number) & ALPHANUMERIC))
}

function onlyLetters(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (kinds[bytes[at] ?? 0] === DIGIT) return false
  return true
}

const masker = new Masker()

/** The message with its numbers and the like masked. */
export const maskedText = (message: string): string => masker.masked(Buffer.from(message, 'utf8'))

/** The message without its variable parts; templateOf makes it readable. */
export const skeletonText = (message: string): string => patternOf(maskedText(message))

/** The value of the column `skeleton` for a message: equal for messages that differ only in their variable parts, 0 for none. */
export function skeletonHash(message: string | Uint8Array): Hash64 {
  return maskedHash(patternOf(masker.masked(typeof message === 'string' ? Buffer.from(message, 'utf8') : message)))
}

/** The value of the column `skeleton` for a text that is already masked. Hashes four bytes at a time; the last ones are filled with 0. */
export function maskedHash(text: string): Hash64 {
  const bytes = Buffer.from(text, 'utf8')
  const { length } = bytes
  if (length === 0) return { high: 0, low: 0 }
  const padded = new Uint8Array((length + 3) & ~3)
  padded.set(bytes)
  let a = length
  let b = ~length
  for (const word of new Int32Array(padded.buffer)) {
    a = Math.imul(a ^ Math.imul(word, 0x85ebca6b), 0x9e3779b1)
    a ^= a >>> 15
    b = Math.imul((b << 13) | (b >>> 19), 5) ^ Math.imul(word ^ (word >>> 16), 0xc2b2ae35)
  }
  a = Math.imul(a ^ (b >>> 16), 0x21f0aaad)
  b = Math.imul(b ^ (a >>> 15), 0x735a2d97)
  const high = (a ^ (b >>> 15)) >>> 0
  return { high, low: (b ^ (high >>> 14) || 1) >>> 0 }
}
