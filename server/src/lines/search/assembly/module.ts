import { BACKSLASH, byteAt, LINE_FEED, placeOf, startOfLine } from './bytes'
import { hiddenIn } from './hidden'
import { isAt } from './literals'
import {
  ADDRESS,
  ALL_OWNERS,
  BIT_OF_HIGH,
  CARD,
  CARD_GROUP,
  DIGIT_END,
  DIGIT_LEAST,
  ESCAPE,
  ESCAPE_GROUP,
  FOUND,
  GROUPS,
  HALF,
  HAS_SECOND_SET,
  LENGTH,
  LITERAL_BYTES,
  LITERALS,
  MASK,
  MASKED,
  OFFSET,
  OWNERS,
  SECOND_SET,
  USUAL_BY_LOW,
} from './tables'
import { endOfToken, isTokenText, tokenFrom } from './tokens'

export { endOfToken, isTokenText }

/**
 * Finds literals in bytes, all of them in one pass of 16 bytes at a time. Each literal belongs to one of sixteen groups. For each of four bytes of a
 * literal, tables say by half bytes which groups may have it. Where some group may have all four, its literals are compared. `tables` are those of a search.
 */

/** Who looks for the literal that was found, whether it is an escape, and where it is: of a card the shortest number. */
let owners: i32 = 0
let isEscape: bool = false
let foundStart: i32 = 0
let foundEnd: i32 = 0
const CARD_BYTES_MIN: i32 = 13
/** A digit of every number of a card: its first group has 4 to 6 digits, and the second 4 at least. */
const CARD_DIGIT: i32 = 7
/** False once the escapes of a line are known. */
let findsEscapes: bool = true

function groupsAt(table: i32, low: v128, high: v128): v128 {
  return v128.and(i8x16.relaxed_swizzle(v128.load(table), low), i8x16.relaxed_swizzle(v128.load(table + 16), high))
}

/** The number of bytes that are read ahead: the last of the four begins so far behind the first. */
const AHEAD: i32 = 3

function threeBack(before: v128, now: v128): v128 {
  return i8x16.shuffle(before, now, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)
}

function twoBack(before: v128, now: v128): v128 {
  return i8x16.shuffle(before, now, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)
}

function oneBack(before: v128, now: v128): v128 {
  return i8x16.shuffle(before, now, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
}

/** True for a digit. A comparison with signs is one instruction. */
function isDigit(tables: i32, bytes: v128): v128 {
  return i8x16.lt_s(i8x16.sub(bytes, v128.load(tables, DIGIT_LEAST)), v128.load(tables, DIGIT_END))
}

function isUnusualBehindBackslash(tables: i32, low: v128, high: v128): v128 {
  const usual = i8x16.relaxed_swizzle(v128.load(tables, USUAL_BY_LOW), low)
  return i8x16.eq(v128.and(usual, i8x16.relaxed_swizzle(v128.load(tables, BIT_OF_HIGH), high)), i8x16.splat(0))
}

/**
 * A position in the first literal that ends before `end`, of those whose four bytes begin from `start`; -1 for none. Literals that only those look for who
 * are `known` are left out. Bytes behind the end do not matter, and before a text there is no digit.
 */
function find(tables: i32, start: i32, end: i32, textStart: i32, known: i32): i32 {
  const zero = i8x16.splat(0)
  const maybeEscapes = findsEscapes ? i8x16.splat(-1) : zero
  const secondSet = tables + SECOND_SET
  const hasSecondSet = load<i32>(tables, HAS_SECOND_SET) !== 0
  let before0 = zero
  let before1 = zero
  let before2 = zero
  let secondBefore0 = zero
  let secondBefore1 = zero
  let secondBefore2 = zero
  for (let at = start; at < end + AHEAD; at += 16) {
    const bytes = v128.load(at)
    const half = v128.load(tables, HALF)
    const low = v128.and(bytes, half)
    const high = v128.and(i16x8.shr_u(bytes, 4), half)
    // Most backslashes stand before a usual character.
    const mayEscape = v128.and(isUnusualBehindBackslash(tables, low, high), maybeEscapes)
    const first0 = groupsAt(tables, low, high)
    const first1 = v128.andnot(groupsAt(tables + 32, low, high), v128.andnot(v128.load(tables, ESCAPE_GROUP), mayEscape))
    const first2 = groupsAt(tables + 64, low, high)
    const begun = v128.and(threeBack(before0, first0), twoBack(before1, first1))
    let first = v128.and(begun, v128.and(oneBack(before2, first2), groupsAt(tables + 96, low, high)))
    before0 = first0
    before1 = first1
    before2 = first2
    // Most digits follow another one or begin a short number.
    const begins = v128.andnot(isDigit(tables, v128.load(at - AHEAD + CARD_DIGIT)), isDigit(tables, v128.load(at - AHEAD - 1)))
    first = v128.andnot(first, v128.andnot(v128.load(tables, CARD_GROUP), begins))
    let second = zero
    if (hasSecondSet) {
      const second0 = groupsAt(secondSet, low, high)
      const second1 = groupsAt(secondSet + 32, low, high)
      const second2 = groupsAt(secondSet + 64, low, high)
      const begunToo = v128.and(threeBack(secondBefore0, second0), twoBack(secondBefore1, second1))
      second = v128.and(begunToo, v128.and(oneBack(secondBefore2, second2), groupsAt(secondSet + 96, low, high)))
      secondBefore0 = second0
      secondBefore1 = second1
      secondBefore2 = second2
    }
    const either = v128.or(first, second)
    if (!v128.any_true(either)) continue
    v128.store(tables, first, FOUND)
    v128.store(tables, second, FOUND + 16)
    let mask = i8x16.bitmask(i8x16.ne(either, zero))
    while (mask !== 0) {
      const place = ctz(mask)
      mask &= mask - 1
      const found = at + place - AHEAD
      if (found >= end) return -1
      const groups = byteAt(tables + FOUND + place) | (byteAt(tables + FOUND + 16 + place) << 8)
      if (isLiteral(tables, found, end, groups, textStart, known)) return found
    }
  }
  return -1
}

function isLiteral(tables: i32, at: i32, end: i32, groups: i32, textStart: i32, known: i32): bool {
  let left = groups
  while (left !== 0) {
    const group = ctz(left)
    left &= left - 1
    const last = byteAt(tables + GROUPS + group + 1)
    for (let number = byteAt(tables + GROUPS + group); number < last; number += 1) {
      const literal = tables + LITERALS + number * LITERAL_BYTES
      if ((load<i32>(at) & load<i32>(literal, MASK)) !== load<i32>(literal, MASKED)) continue
      const own = load<i32>(literal, OWNERS)
      const isOfEscape = byteAt(literal) === ESCAPE
      if (isOfEscape ? !findsEscapes : (own & ~known) === 0) continue
      const start = at - byteAt(literal + OFFSET)
      if (start < textStart || !isAt(tables, literal, start, end, textStart)) continue
      owners = own
      isEscape = isOfEscape
      notePlace(literal, start)
      return true
    }
  }
  return false
}

function notePlace(literal: i32, start: i32): void {
  const kind = byteAt(literal)
  foundStart = kind === ADDRESS ? start - 1 : start
  foundEnd = start + (kind === CARD ? CARD_BYTES_MIN : kind === ADDRESS ? 1 : byteAt(literal + LENGTH))
}

/** Who looks for a literal that is in a line, or that its escapes hide. No literal begins before `from`. */
function listsFrom(tables: i32, from: i32, start: i32, end: i32): i32 {
  const all = load<i32>(tables, ALL_OWNERS)
  let known = 0
  findsEscapes = true
  for (let at = find(tables, from, end, start, known); at >= 0; at = find(tables, at, end, start, known)) {
    if (isEscape) findsEscapes = false
    else known |= owners
    if (known === all) break
  }
  const hasEscapes = !findsEscapes
  findsEscapes = true
  return hasEscapes && known !== all ? known | hiddenIn(tables, start, end) : known
}

/** Who looks for a literal that is in a text. */
export function listsIn(tables: i32, start: i32, end: i32): i32 {
  return listsFrom(tables, start, start, end)
}

/** Where the search for lines goes on. */
let restStart: i32 = 0

export function restOfLines(): i32 {
  return restStart
}

/** Finds the lines with literals: where each begins and ends, and who looks for its literals. Returns how many it has written to `into`. */
export function foundLines(tables: i32, start: i32, end: i32, into: i32, most: i32): i32 {
  let count = 0
  let at = start
  findsEscapes = true
  while (at < end && count < most) {
    const place = find(tables, at, end, at, 0)
    if (place < 0) {
      at = end
      break
    }
    const lineStart = startOfLine(place, at)
    const lineEnd = placeOf(LINE_FEED, place, end)
    // A place in a literal may be behind its first byte, but not behind the place of another literal.
    const found = listsFrom(tables, place, lineStart, lineEnd)
    if (found !== 0) {
      const line = into + count * 12
      store<i32>(line, lineStart)
      store<i32>(line, lineEnd, 4)
      store<i32>(line, found, 8)
      count += 1
    }
    at = lineEnd + 1
  }
  restStart = at
  return count
}

/**
 * The next literal of the line whose tokens are read, whether the line has escapes that hide what they stand for, and whether all literals until here lie
 * within tokens.
 */
let nextPlace: i32 = 0
let hasHidden: bool = false
let isWithin: bool = true

/** Begins to read the tokens of a line. */
export function beginTokens(tables: i32, start: i32, end: i32): void {
  hasHidden = false
  for (let at = placeOf(BACKSLASH, start, end); at < end && !hasHidden; at = placeOf(BACKSLASH, at + 1, end)) hasHidden = isHiding(at, end)
  isWithin = true
  findNext(tables, start, end, start)
}

function findNext(tables: i32, from: i32, end: i32, textStart: i32): void {
  findsEscapes = false
  nextPlace = find(tables, from, end, textStart, 0)
  findsEscapes = true
}

/** False when a literal of the tokens that were read lies between two tokens or in several. */
export function isWithinTokens(): bool {
  return isWithin
}

/** A backslash before something else than n, r, t, a quote, a backslash or a slash. */
function isHiding(at: i32, end: i32): bool {
  if (at + 1 >= end) return false
  const byte = byteAt(at + 1)
  return !(byte === 0x6e || byte === 0x72 || byte === 0x74 || byte === 0x22 || byte === 0x5c || byte === 0x2f)
}

/** The next token from a position that has a literal; the end for none. */
export function foundToken(tables: i32, from: i32, end: i32, textStart: i32): i32 {
  let at = tokenFrom(from, end)
  while (at < end && (nextPlace >= 0 || hasHidden)) {
    const hasLiteral = readLiterals(tables, at, end, textStart)
    if (hasLiteral || (hasHidden && hiddenIn(tables, at, endOfToken()) !== 0)) return at
    at = tokenFrom(endOfToken() + i32(isTokenText()), end)
  }
  if (nextPlace >= 0) isWithin = false
  return end
}

/** True when a token has a literal. Goes to the first literal behind it. */
function readLiterals(tables: i32, tokenStart: i32, end: i32, textStart: i32): bool {
  const tokenEnd = endOfToken()
  let hasLiteral = false
  while (nextPlace >= 0 && nextPlace <= tokenEnd) {
    if (nextPlace >= tokenStart) hasLiteral = true
    if (foundStart < tokenStart || foundEnd > tokenEnd) isWithin = false
    // Once a literal is not within a token, where the others are does not matter.
    findNext(tables, isWithin ? nextPlace + 1 : max(nextPlace + 1, hasLiteral ? tokenEnd + 1 : tokenStart), end, textStart)
  }
  return hasLiteral
}
