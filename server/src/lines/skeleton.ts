import { patternOf } from './pattern.ts'

/** A Hash64 is an unsigned 64-bit number in two halves, since numbers hold only 53 bits and bigints are slow. */
export type Hash64 = { readonly high: number; readonly low: number }
export const hashToBigint = ({ high, low }: Hash64): bigint => (BigInt(high) << 32n) | BigInt(low)

/** MASKED_BYTES_MAX is how far a message is looked at; what comes after seldom tells messages apart. */
const MASKED_BYTES_MAX = 1_024
/** MASK is the byte of pattern.ts that stands for a variable part. */
const MASK = 0
const LINE_FEED = 0x0a
const SPACE = 0x20
const QUOTED_BYTES_MAX = 256
/** UNIT_CHARS_MAX is the length of a unit behind a number, as in 12ms. */
const UNIT_CHARS_MAX = 3
const LONG_HEX_CHARS = 8
/** KNOWN_MAX is a power of two. */
const KNOWN_MAX = 4_096

const DIGIT = 1
const HEX_LETTER = 2
const LETTER = 4
const BLANK = 8
/** JOINT bytes between two masks belong to one value: addresses, dates, decimals, versions. */
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
 * A Masker takes the variable parts out of messages: numbers, hexadecimal words, identifiers, addresses and quoted parts become one mask each, and
 * the rest of what varies is found in the text that is left (pattern.ts). What remains is the skeleton. It works in place on its own buffer; results hold until the next message.
 */
export class Masker {
  /** out has room for a message of empty quotes, which grow by half, and for the last word. */
  private readonly out = new Uint8Array(MASKED_BYTES_MAX * 1.5 + 8)
  private readonly words = new Int32Array(this.out.buffer)
  private used = 0
  /** maskEnd is where the last mask ends in out, 0 before the first. */
  private maskEnd = 0
  /** known remembers the hash of the pattern by the hash of the masked message: four words an entry, the newest of a place wins. */
  private readonly known = new Uint32Array(KNOWN_MAX * 4)
  high = 0
  low = 0

  /** hash masks and hashes a message; the result is in `high` and `low`, both 0 only for a message without text. */
  hash(bytes: Uint8Array, start: number, end: number): void {
    this.mask(bytes, start, end)
    for (let pad = 0; pad < 3; pad += 1) this.out[this.used + pad] = 0
    this.hashWords(this.words, this.used)
    const { known, high, low } = this
    const place = (low & (KNOWN_MAX - 1)) * 4
    if (known[place] === high && known[place + 1] === low) {
      this.high = known[place + 2] as number
      this.low = known[place + 3] as number
      return
    }
    this.hashAsIs(Buffer.from(patternOf(this.maskedText()), 'utf8'))
    known[place] = high
    known[place + 1] = low
    known[place + 2] = this.high
    known[place + 3] = this.low
  }

  /** hashAsIs does the same for a text that holds no variable parts any more, however long. */
  hashAsIs(bytes: Uint8Array): void {
    const padded = new Uint8Array((bytes.length + 3) & ~3)
    padded.set(bytes)
    this.hashWords(new Int32Array(padded.buffer), bytes.length)
  }

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
        // Most words stay: they are copied while it is found out whether they do.
        const from = at
        let put = used
        let seen = 0
        for (let next = kind; at < end && next & ALPHANUMERIC; next = kinds[bytes[at] as number] as number) {
          seen |= next
          out[put++] = bytes[at++] as number
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

  /** word masks or copies a word that may be variable, and gives the place after it. */
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

  /** numbered masks a word that holds a digit; letters before or after the digits stay where they look like a name or a unit. */
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

  /** isHexadecimal tells whether a word of the letters a to f alone is a number: when it is long, or a part of an address. */
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

  /** uuid gives the end of the UUID that begins at `at`, 0 when none does. */
  private uuid(bytes: Uint8Array, at: number, end: number): number {
    if (at + 36 > end) return 0
    for (let index = 0; index < 36; index += 1) {
      const byte = bytes[at + index] ?? 0
      const dash = index === 8 || index === 13 || index === 18 || index === 23
      if (dash ? byte !== 0x2d : !((kinds[byte] ?? 0) & (DIGIT | HEX_LETTER))) return 0
    }
    return at + 36
  }

  /** putMask puts a mask, and draws it together with one just before when only a joint lies between; a sign before it belongs to it. */
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

  /** quote masks what stands between two quotes of one kind; a quote that is an apostrophe or has no partner nearby is a sign like others. */
  private quote(bytes: Uint8Array, start: number, at: number, end: number): number {
    const sign = bytes[at] ?? 0
    const afterWord = at > start && (kinds[bytes[at - 1] ?? 0] ?? 0) & ALPHANUMERIC
    const limit = Math.min(end, at + QUOTED_BYTES_MAX)
    let close = afterWord ? limit : at + 1
    const goesOn = () => bytes[close] !== sign || (close + 1 < end && (kinds[bytes[close + 1] ?? 0] ?? 0) & ALPHANUMERIC)
    while (close < limit && bytes[close] !== LINE_FEED && goesOn()) close += 1
    this.out[this.used++] = sign
    if (close >= limit || bytes[close] !== sign) return at + 1
    this.out[this.used++] = MASK
    this.out[this.used++] = sign
    this.maskEnd = 0
    return close + 1
  }

  /** hashWords hashes four bytes at a time; those after `length` in the last word are 0. */
  private hashWords(words: Int32Array, length: number): void {
    let a = length
    let b = ~length
    for (let at = 0; at * 4 < length; at += 1) {
      const word = words[at] as number
      a = Math.imul(a ^ Math.imul(word, 0x85ebca6b), 0x9e3779b1)
      a ^= a >>> 15
      b = Math.imul((b << 13) | (b >>> 19), 5) ^ Math.imul(word ^ (word >>> 16), 0xc2b2ae35)
    }
    a = Math.imul(a ^ (b >>> 16), 0x21f0aaad)
    b = Math.imul(b ^ (a >>> 15), 0x735a2d97)
    this.high = length === 0 ? 0 : (a ^ (b >>> 15)) >>> 0
    this.low = length === 0 ? 0 : (b ^ (this.high >>> 14) || 1) >>> 0
  }
}

function onlyLetters(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (kinds[bytes[at] ?? 0] === DIGIT) return false
  return true
}

const masker = new Masker()

/** maskedText is a message whose numbers and the like are masked. */
export const maskedText = (message: string): string => masker.masked(Buffer.from(message, 'utf8'))

/** skeletonText is a message without its variable parts; templateOf makes it readable. */
export const skeletonText = (message: string): string => patternOf(maskedText(message))

/** skeletonHash is what the column `skeleton` holds for a message: equal for messages that differ in their variable parts alone, 0 for none. */
export function skeletonHash(message: string | Uint8Array): Hash64 {
  const bytes = typeof message === 'string' ? Buffer.from(message, 'utf8') : message
  masker.hash(bytes, 0, bytes.length)
  return { high: masker.high, low: masker.low }
}

/** maskedHash is the same for a text that holds no variable parts any more. */
export function maskedHash(text: string): Hash64 {
  masker.hashAsIs(Buffer.from(text, 'utf8'))
  return { high: masker.high, low: masker.low }
}
