import { byteAt } from './bytes'
import { TEXT_KINDS } from './memory'

/** The classes of bytes in texts, as the expressions and tables of ingest/detect name them. */
/** `\s`, `\w` and `\d` among ASCII characters. */
export const BLANK: i32 = 1
export const WORD: i32 = 2
export const DIGIT: i32 = 4
/** A time ends before it. */
export const TIME_END: i32 = 8
/** A key of a pair begins with it, or has it; a pair follows it, or ends before it. */
export const KEY_FIRST: i32 = 16
export const KEY: i32 = 32
export const BEFORE_PAIR: i32 = 64
export const BEHIND_PAIR: i32 = 128
/** The initials of levels, and what is before and behind a level. */
export const LEVEL_FIRST: i32 = 256
export const BEFORE_LEVEL: i32 = 512
export const BEHIND_LEVEL: i32 = 1024
/** The names of hosts and of programs in the older syslog. */
export const HOST: i32 = 2048
export const PROGRAM: i32 = 4096
export const UPPER: i32 = 8192
export const LOWER: i32 = 16384

const LOWER_CASE: string = 'abcdefghijklmnopqrstuvwxyz'
const UPPER_CASE: string = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const BLANKS: string = ' \t\n\v\f\r'

export function initTextKinds(): void {
  mark('0123456789', DIGIT | WORD | KEY | HOST | PROGRAM)
  mark(LOWER_CASE, LOWER | WORD | KEY_FIRST | KEY | HOST | PROGRAM)
  mark(UPPER_CASE, UPPER | WORD | KEY_FIRST | KEY | HOST | PROGRAM)
  mark('_', WORD | KEY_FIRST | KEY | HOST | PROGRAM)
  mark(BLANKS, BLANK | TIME_END | BEFORE_PAIR | BEHIND_PAIR | BEFORE_LEVEL | BEHIND_LEVEL)
  mark('],|', TIME_END)
  mark('@', KEY_FIRST | KEY)
  mark('./-', KEY)
  mark('[({,;|', BEFORE_PAIR)
  mark(',;|])}', BEHIND_PAIR)
  mark('TDINWESFCAP', LEVEL_FIRST)
  mark('[(<|:', BEFORE_LEVEL)
  mark('])>|:,\x1b', BEHIND_LEVEL)
  mark('.:-', HOST)
  mark('./@()-', PROGRAM)
}

function mark(chars: string, kinds: i32): void {
  for (let index = 0; index < chars.length; index += 1) {
    const kind = TEXT_KINDS + charAt(chars, index) * 2
    store<u16>(kind, load<u16>(kind) | kinds)
  }
}

/** The code of a character of a literal of these sources. */
export function charAt(text: string, index: i32): i32 {
  return load<u16>(changetype<usize>(text) + (index << 1))
}

export function kindAt(at: i32): i32 {
  return load<u16>(TEXT_KINDS + byteAt(at) * 2)
}

export function isKind(at: i32, end: i32, kinds: i32): bool {
  return at < end && (kindAt(at) & kinds) !== 0
}

export function isByte(at: i32, end: i32, byte: i32): bool {
  return at < end && byteAt(at) === byte
}

/** True for a text of ASCII characters at a position. */
export function isWordAt(at: i32, end: i32, word: string): bool {
  if (at + word.length > end) return false
  for (let index = 0; index < word.length; index += 1) if (byteAt(at + index) !== charAt(word, index)) return false
  return true
}

/** The end of the bytes of some kinds from a position on. */
export function runEnd(start: i32, end: i32, kinds: i32): i32 {
  let at = start
  while (at < end && (kindAt(at) & kinds) !== 0) at += 1
  return at
}

/** The end of the bytes that are of none of some kinds. */
export function runEndWithout(start: i32, end: i32, kinds: i32): i32 {
  let at = start
  while (at < end && (kindAt(at) & kinds) === 0) at += 1
  return at
}

/** The next place of a byte; `end` for none. */
export function findByte(byte: i32, start: i32, end: i32): i32 {
  const wanted = i8x16.splat(i8(byte))
  for (let at = start; at < end; at += 16) {
    const marks = i8x16.bitmask(i8x16.eq(v128.load(at), wanted))
    if (marks !== 0) return min(at + ctz(marks), end)
  }
  return end
}

/** The next place of two bytes in a row; `end` for none. */
export function findBytes(first: i32, second: i32, start: i32, end: i32): i32 {
  const one = i8x16.splat(i8(first))
  const other = i8x16.splat(i8(second))
  for (let at = start; at < end; at += 16) {
    const marks = i8x16.bitmask(v128.and(i8x16.eq(v128.load(at), one), i8x16.eq(v128.load(at, 1), other)))
    if (marks !== 0) {
      const place = at + ctz(marks)
      return place + 1 < end ? place : end
    }
  }
  return end
}

export function hasWide(start: i32, end: i32): bool {
  for (let at = start; at < end; at += 16) {
    const marks = i8x16.bitmask(v128.load(at))
    if (marks !== 0) return at + ctz(marks) < end
  }
  return false
}

/** The end of the first characters of a text, counted in 16 bits as strings are; -1 when a character of twice as many lies across it. */
export function endOfChars(start: i32, end: i32, charsMax: i32): i32 {
  if (end - start <= charsMax) return end
  let left = charsMax
  for (let at = start; at < end; ) {
    if (left >= 16 && at + 16 <= end && i8x16.bitmask(v128.load(at)) === 0) {
      at += 16
      left -= 16
      continue
    }
    const byte = byteAt(at)
    const chars = byte >= 0xf0 ? 2 : 1
    if (left < chars) return left === 0 ? at : -1
    left -= chars
    at += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
  }
  return end
}

/** True for characters beyond ASCII that `\s` matches. */
export function hasWideBlank(start: i32, end: i32): bool {
  for (let at = start; at < end; at += 16) {
    let marks = i8x16.bitmask(v128.load(at))
    while (marks !== 0) {
      const place = at + ctz(marks)
      if (place >= end) return false
      if (isWideBlank(place, end)) return true
      marks &= marks - 1
    }
  }
  return false
}

function isWideBlank(at: i32, end: i32): bool {
  const first = byteAt(at)
  if (first === 0xc2) return isByte(at + 1, end, 0xa0)
  if (first !== 0xe1 && first !== 0xe2 && first !== 0xe3 && first !== 0xef) return false
  if (at + 2 >= end) return false
  const code = (byteAt(at + 1) << 8) | byteAt(at + 2)
  if (first === 0xe1) return code === 0x9a80
  if (first === 0xe3) return code === 0x8080
  if (first === 0xef) return code === 0xbbbf
  return (code >= 0x8080 && code <= 0x808a) || code === 0x80a8 || code === 0x80a9 || code === 0x80af || code === 0x819f
}
