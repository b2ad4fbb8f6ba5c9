import { byteAt, ESCAPE } from './bytes'
import { LEVEL_WORDS } from './memory'
import { BEFORE_LEVEL, BEHIND_LEVEL, charAt, DIGIT, isByte, kindAt, LEVEL_FIRST, LOWER, runEnd, UPPER, WORD } from './text-kinds'

/** Finds levels as ingest/detect/level.ts does. */
const LEVEL_CHARS: i32 = 80
const WORD_CHARS_MIN: i32 = 3
const WORD_CHARS_MAX: i32 = 8
const LEVELS: string = 'TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR SEVERE FATAL CRITICAL CRIT ALERT EMERG PANIC '
const LEVELS_COUNT: i32 = 15
const SPACE: i32 = 0x20
const SEMICOLON: i32 = 0x3b
const COLOR_END: i32 = 0x6d
const OPENING: i32 = 0x5b
const CLOSING: i32 = 0x5d
const COLON: i32 = 0x3a
const CAPITALS: u64 = (u64(0xdfdfdfdf) << 32) | u64(0xdfdfdfdf)

/** Keeps the levels as numbers of eight bytes. */
export function initLevels(): void {
  let number = 0
  let word: u64 = 0
  let length = 0
  for (let index = 0; index < LEVELS.length; index += 1) {
    const char = charAt(LEVELS, index)
    if (char !== SPACE) {
      word |= u64(char) << u64(length * 8)
      length += 1
      continue
    }
    store<u64>(LEVEL_WORDS + number * 8, word)
    number += 1
    word = 0
    length = 0
  }
}

let start: i32 = 0
let end: i32 = 0
export function levelStart(): i32 {
  return start
}
export function levelEnd(): i32 {
  return end
}

/** Finds a level in capitals or in brackets near the beginning. */
export function findLevel(from: i32, to: i32): bool {
  let stop = from + LEVEL_CHARS
  let mayBegin = true
  for (let at = from; at < stop && at < to; at += 1) {
    const byte = byteAt(at)
    if (byte > 0x7f) {
      // Characters count as in a string: all bytes but the first of one are additional, in a character of four bytes only two.
      if (byte < 0xc0) stop += 1
      else if (byte >= 0xf0) stop -= 1
      mayBegin = false
      continue
    }
    if (byte === ESCAPE) {
      const behind = behindColor(at, to)
      mayBegin = behind > at
      if (mayBegin) at = behind - 1
      continue
    }
    const kind = kindAt(at)
    if (mayBegin && (kind & LEVEL_FIRST) !== 0) {
      const last = runEnd(at, to, UPPER)
      if ((last >= to || (kindAt(last) & BEHIND_LEVEL) !== 0) && isLevel(at, last)) return true
    } else if (byte === OPENING && isBracketed(at, to)) return true
    mayBegin = (kind & BEFORE_LEVEL) !== 0
  }
  return false
}

/** The position behind the code of a color of a terminal; that of the escape character for none. */
function behindColor(from: i32, to: i32): i32 {
  if (!isByte(from + 1, to, OPENING)) return from
  let at = from + 2
  while (at < to && ((kindAt(at) & DIGIT) !== 0 || byteAt(at) === SEMICOLON)) at += 1
  return isByte(at, to, COLOR_END) ? at + 1 : from
}

function isBracketed(opening: i32, to: i32): bool {
  let first = opening + 1
  const module = runEnd(first, to, WORD)
  if (module > first && isByte(module, to, COLON)) first = module + 1
  const last = runEnd(first, to, UPPER | LOWER)
  return isByte(last, to, CLOSING) && isLevel(first, last)
}

function isLevel(from: i32, to: i32): bool {
  const length = to - from
  if (length < WORD_CHARS_MIN || length > WORD_CHARS_MAX) return false
  const word = (load<u64>(from) << u64((8 - length) * 8)) >> u64((8 - length) * 8)
  for (let number = 0; number < LEVELS_COUNT; number += 1) {
    if (load<u64>(LEVEL_WORDS + number * 8) !== (word & CAPITALS)) continue
    start = from
    end = to
    return true
  }
  return false
}
