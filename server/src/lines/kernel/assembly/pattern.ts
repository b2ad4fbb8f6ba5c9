import { byteAt } from './bytes'
import { PATTERN, PATTERN_KINDS, REPAIRED } from './memory'
import { isUtf8, repair } from './utf8'

/** Classes of bytes, named after the expressions of pattern.ts, which defines patterns. */
const WORD: i32 = 1
const LETTER: i32 = 2
const SEGMENT: i32 = 4
const NAME: i32 = 8
const DELIMITER: i32 = 16
/** A word without such bytes stays as it is, unless it names a day or a user. */
const VARIABLE: i32 = 32
/** Punctuation that ends a sentence. */
const STOP: i32 = 64
/** The first letters of days and months. */
const DATE_INITIAL: i32 = 128

const MASK: i32 = 0
const SPACE: i32 = 0x20
const DOLLAR: i32 = 0x24
const OPEN: i32 = 0x28
const CLOSE: i32 = 0x29
const COMMA: i32 = 0x2c
const DOT: i32 = 0x2e
const SLASH: i32 = 0x2f
const COLON: i32 = 0x3a
const EQUALS: i32 = 0x3d
const UNDERSCORE: i32 = 0x5f
const OPEN_BRACE: i32 = 0x7b
const CLOSE_BRACE: i32 = 0x7d
const MONTH_TAIL_MAX: i32 = 6
const DAY_TAIL_MAX: i32 = 9
const USER: i32 = 0x72657375
const USER_LENGTH: i32 = 4

export function initPattern(): void {
  for (let byte = 0; byte < 256; byte += 1) store<u8>(PATTERN_KINDS + byte, kindOf(byte))
}

function kindOf(byte: i32): i32 {
  let kind = 0
  const isLower = byte >= 0x61 && byte <= 0x7a
  const isUpper = byte >= 0x41 && byte <= 0x5a
  if (isLower || isUpper) kind |= WORD | LETTER | SEGMENT | NAME
  if ((byte >= 0x30 && byte <= 0x39) || byte === UNDERSCORE) kind |= WORD | SEGMENT | NAME
  if (byte === 0x2d || byte === DOLLAR) kind |= SEGMENT | NAME
  if (byte === DOT || byte === COLON) kind |= NAME
  if (byte === MASK) kind |= SEGMENT | VARIABLE
  if (byte === EQUALS || byte === SLASH || byte === DOT) kind |= VARIABLE
  if (isDelimiter(byte)) kind |= DELIMITER
  if (byte === DOT || byte === COLON || byte === 0x21 || byte === 0x3f) kind |= STOP
  if (isDateInitial(byte)) kind |= DATE_INITIAL
  return kind
}

function isDelimiter(byte: i32): bool {
  if (byte === OPEN || byte === CLOSE || byte === 0x5b || byte === 0x5d || byte === OPEN_BRACE || byte === CLOSE_BRACE) return true
  return byte === 0x3c || byte === 0x3e || byte === COMMA || byte === 0x3b || byte === 0x22 || byte === 0x27 || byte === 0x7c
}

/** The first letters of JFMASOND and TW. */
function isDateInitial(byte: i32): bool {
  if (byte === 0x4a || byte === 0x46 || byte === 0x4d || byte === 0x41 || byte === 0x53 || byte === 0x4f) return true
  return byte === 0x4e || byte === 0x44 || byte === 0x54 || byte === 0x57
}

function kindAt(at: i32): i32 {
  return load<u8>(PATTERN_KINDS + byteAt(at))
}

/** The end of what is written, and of the masked message. */
let used: i32 = 0
let limit: i32 = 0

/** Writes the pattern of a masked message at PATTERN, as patternOf does. Returns its end. */
export function writePattern(masked: i32, end: i32): i32 {
  if (isUtf8(masked, end)) writeWords(masked, end)
  // The string of such a message has replacement characters.
  else writeWords(REPAIRED, repair(masked, end, REPAIRED))
  return used
}

function writeWords(masked: i32, end: i32): void {
  limit = end
  used = PATTERN
  let kept = 0
  let keptEnd = -1
  let before = -1
  let start = masked
  for (;;) {
    if (start > masked) put(SPACE)
    const from = used
    // Most words are unchanged, so they are copied while they are checked.
    let stop = start
    let seen = 0
    for (; stop < limit; stop += 1) {
      const byte = byteAt(stop)
      if (byte === SPACE) break
      seen |= kindAt(stop)
      put(byte)
    }
    if ((seen & VARIABLE) !== 0 || isSpecial(start, stop, before)) {
      used = from
      writeWord(start, stop, before, seen)
    }
    if (isRepeated(from, kept, keptEnd)) used = from - 1
    else {
      kept = from
      keptEnd = used
    }
    if (stop >= limit) return
    before = start
    start = stop + 1
  }
}

function put(byte: i32): void {
  store<u8>(used, byte)
  used += 1
}

function copy(start: i32, end: i32): void {
  for (let at = start; at < end; at += 1) put(byteAt(at))
}

/** True when the word that was just written repeats the one before, and both have masks. */
function isRepeated(from: i32, kept: i32, keptEnd: i32): bool {
  const length = used - from
  if (length < 2 || keptEnd - kept !== length) return false
  let hasMask = false
  for (let at = 0; at < length; at += 1) {
    const byte = byteAt(from + at)
    if (byte !== byteAt(kept + at)) return false
    if (byte === MASK) hasMask = true
  }
  return hasMask
}

/** True for a word that may name a day or a user, or is `()`. */
function isSpecial(start: i32, end: i32, before: i32): bool {
  if (end - start > 2 && (kindAt(start) & DATE_INITIAL) !== 0) return true
  if (isAfterUser(start, before)) return true
  return end - start === 2 && byteAt(start) === OPEN
}

function isAfterUser(start: i32, before: i32): bool {
  return before >= 0 && start - before === USER_LENGTH + 1 && load<i32>(before) === USER
}

function writeWord(start: i32, end: i32, before: i32, seen: i32): void {
  if (isDate(start, end)) put(MASK)
  else if (before >= 0 && end - start === 2 && byteAt(start) === OPEN && byteAt(start + 1) === CLOSE) {
    put(OPEN)
    put(MASK)
    put(CLOSE)
  } else if (isAfterUser(start, before) && isUser(start, end)) {
    put(MASK)
    if (byteAt(end - 1) === COMMA) put(COMMA)
  } else if (seen & VARIABLE) writePieces(start, end)
  else copy(start, end)
}

function isDate(start: i32, end: i32): bool {
  const isBeforeMask = end + 1 < limit && byteAt(end + 1) === MASK
  if (isMonth(start, end)) return isBeforeMask
  return isDay(start, end) && (isBeforeMask || isMonth(end + 1, wordEnd(end + 1)))
}

function wordEnd(start: i32): i32 {
  let end = start
  while (end < limit && byteAt(end) !== SPACE) end += 1
  return end
}

function isMonth(start: i32, end: i32): bool {
  if (end - start < 3 || !isMonthName(load<i32>(start) & 0xffffff)) return false
  const to = byteAt(end - 1) === COMMA ? end - 1 : end
  return to - start - 3 <= MONTH_TAIL_MAX && isLowerCase(start + 3, to)
}

/** Jan to Dec. */
function isMonthName(name: i32): bool {
  if (name === 0x6e614a || name === 0x626546 || name === 0x72614d || name === 0x727041 || name === 0x79614d) return true
  if (name === 0x6e754a || name === 0x6c754a || name === 0x677541 || name === 0x706553 || name === 0x74634f) return true
  return name === 0x766f4e || name === 0x636544
}

/** Mon to Sun. */
function isDayName(name: i32): bool {
  if (name === 0x6e6f4d || name === 0x657554 || name === 0x646557 || name === 0x756854 || name === 0x697246) return true
  return name === 0x746153 || name === 0x6e7553
}

function isDay(start: i32, end: i32): bool {
  if (end - start < 3 || !isDayName(load<i32>(start) & 0xffffff)) return false
  const to = byteAt(end - 1) === COMMA ? end - 1 : end
  const tail = to - start - 3
  if (tail === 0) return true
  if (tail < 3 || tail > DAY_TAIL_MAX || !isLowerCase(start + 3, to)) return false
  return byteAt(to - 3) === 0x64 && byteAt(to - 2) === 0x61 && byteAt(to - 1) === 0x79
}

function isLowerCase(start: i32, end: i32): bool {
  for (let at = start; at < end; at += 1) if (byteAt(at) < 0x61 || byteAt(at) > 0x7a) return false
  return true
}

/** True when the word behind `user` is a plain name that ends the message or comes before a comma, `by` or `from`. */
function isUser(start: i32, end: i32): bool {
  if (start >= end) return false
  const first = byteAt(start)
  if (first !== MASK && first !== UNDERSCORE && (first < 0x61 || first > 0x7a)) return false
  const hasComma = byteAt(end - 1) === COMMA
  const nameEnd = hasComma ? end - 1 : end
  for (let at = start; at < nameEnd; at += 1) {
    if ((kindAt(at) & SEGMENT) === 0 || byteAt(at) === DOLLAR) return false
  }
  if (hasComma || end >= limit) return true
  const next = end + 1
  const length = wordEnd(next) - next
  if (length === 2) return byteAt(next) === 0x62 && byteAt(next + 1) === 0x79
  return length === 4 && load<i32>(next) === 0x6d6f7266
}

/** Writes a word by the pieces between its delimiters. */
function writePieces(start: i32, end: i32): void {
  let at = start
  while (at < end) {
    let stop = at
    let seen = 0
    for (; stop < end; stop += 1) {
      const kind = kindAt(stop)
      if (kind & DELIMITER) break
      seen |= kind
    }
    const from = used
    if (seen & VARIABLE) writePiece(at, stop)
    else copy(at, stop)
    if (stop >= end) return
    // The content of a brace belongs to the value before.
    const isValue = used - from > 1 && byteAt(used - 1) === MASK && byteAt(used - 2) === EQUALS
    if (isValue && byteAt(stop) === OPEN_BRACE) at = afterBrace(stop, end)
    else {
      put(byteAt(stop))
      at = stop + 1
    }
  }
}

/** The position behind the brace that closes the one at `open`, or the end. */
function afterBrace(open: i32, end: i32): i32 {
  let depth = 0
  for (let at = open; at < end; at += 1) {
    if (byteAt(at) === OPEN_BRACE) depth += 1
    if (byteAt(at) === CLOSE_BRACE) depth -= 1
    if (depth === 0) return at + 1
  }
  return end
}

function writePiece(start: i32, end: i32): void {
  const equals = indexOf(EQUALS, start, end)
  if (equals > start && equals < end - 1 && isName(start, equals)) {
    copy(start, equals + 1)
    put(MASK)
    return
  }
  if (hasScheme(start, end)) {
    writeName(start, end)
    return
  }
  let at = start
  for (;;) {
    let stop = at
    while (stop < end && byteAt(stop) !== COLON) stop += 1
    writeName(at, stop)
    if (stop >= end) return
    put(COLON)
    at = stop + 1
  }
}

function indexOf(byte: i32, start: i32, end: i32): i32 {
  for (let at = start; at < end; at += 1) if (byteAt(at) === byte) return at
  return -1
}

function hasScheme(start: i32, end: i32): bool {
  for (let at = start; at <= end - 3; at += 1) {
    if (byteAt(at) === COLON && byteAt(at + 1) === SLASH && byteAt(at + 2) === SLASH) return true
  }
  return false
}

function isName(start: i32, end: i32): bool {
  let seen = 0
  for (let at = start; at < end; at += 1) {
    const kind = kindAt(at)
    if ((kind & NAME) === 0) return false
    seen |= kind
  }
  return (seen & LETTER) !== 0
}

function writeName(start: i32, end: i32): void {
  let to = end
  while (to > start && (kindAt(to - 1) & STOP) !== 0) to -= 1
  if (isPath(start, to) || isDottedName(start, to)) put(MASK)
  else withOneMask(start, to)
  copy(to, end)
}

function isPath(start: i32, end: i32): bool {
  const first = indexOf(SLASH, start, end)
  if (first < 0) return false
  let isTelling = first === start
  let hasWord = false
  for (let at = start; at < end; at += 1) {
    const byte = byteAt(at)
    if (byte === DOT || (byte === SLASH && at > first)) isTelling = true
    else if (byte === MASK || (kindAt(at) & WORD) !== 0) hasWord = true
  }
  return isTelling && hasWord
}

function isDottedName(start: i32, end: i32): bool {
  let dots = 0
  let last = start
  for (let at = start; at < end; at += 1) {
    if (byteAt(at) === DOT) {
      if (at === last) return false
      dots += 1
      last = at + 1
    } else if ((kindAt(at) & SEGMENT) === 0) return false
  }
  return dots > 1 && last < end && !isTelling(last, end)
}

/** True for a constant or the class of a failure. */
function isTelling(start: i32, end: i32): bool {
  if (endsWithFailure(start, end)) return true
  if (end - start < 3) return false
  for (let at = start; at < end; at += 1) {
    const byte = byteAt(at)
    if (!((byte >= 0x41 && byte <= 0x5a) || (byte === UNDERSCORE && at > start))) return false
  }
  return true
}

/** Exception, Error, Warning and Failure. */
function endsWithFailure(start: i32, end: i32): bool {
  const length = end - start
  const isException = length >= 9 && load<u32>(end - 9) === 0x65637845 && load<u32>(end - 5) === 0x6f697470 && byteAt(end - 1) === 0x6e
  if (isException) return true
  if (length >= 5 && load<u32>(end - 5) === 0x6f727245 && byteAt(end - 1) === 0x72) return true
  if (length < 7) return false
  const first = load<u32>(end - 7)
  const rest = load<u32>(end - 4)
  return (first === 0x6e726157 && rest === 0x676e696e) || (first === 0x6c696146 && rest === 0x6572756c)
}

/** Merges masks that only characters of identifiers separate. */
function withOneMask(start: i32, end: i32): void {
  const first = indexOf(MASK, start, end)
  let last = first
  if (first >= 0) for (let at = first; at < end; at += 1) if (byteAt(at) === MASK) last = at
  for (let at = first; at < last; at += 1) {
    if ((kindAt(at) & SEGMENT) === 0 && byteAt(at) !== DOT) last = first
  }
  copy(start, last > first ? first : end)
  if (last > first) copy(last, end)
}
