/** The tables of one search, which the host writes: `literal-tables.ts` has the same numbers. */

/** Four times two tables of 16 bytes for each of two sets of eight groups, and a place for what a pass finds. */
export const SECOND_SET: i32 = 128
export const FOUND: i32 = 256
/** The numbers of the first literals of the groups, and at the end the number of all. */
export const GROUPS: i32 = 320
export const GROUP_COUNT: i32 = 16
/** Who looks for anything, for cards, for addresses, and who also looks behind escapes. */
export const ALL_OWNERS: i32 = 340
export const CARD_OWNERS: i32 = 344
export const ADDRESS_OWNERS: i32 = 348
export const ESCAPE_OWNERS: i32 = 352
/** Not 0 when a literal has a character of four bytes. */
export const HAS_LONG_CHARS: i32 = 356
/** Not 0 when the second set of groups has any literals. */
export const HAS_SECOND_SET: i32 = 360
export const LITERALS: i32 = 384
/** A literal: its kind, its length, where in it the four bytes are, their bits that are always the same, its bytes, for each how it is compared, who looks for it as bits, and which bits of the four bytes are the same. */
export const LITERAL_BYTES: i32 = 80
export const LENGTH: i32 = 1
export const OFFSET: i32 = 2
export const MASKED: i32 = 4
export const BYTES: i32 = 8
export const WAYS: i32 = 40
export const OWNERS: i32 = 72
export const MASK: i32 = 76
/** Bits for two bytes that follow each other in a literal, for the first byte of a literal, and for that of a word, also where only its beginning is searched. */
export const PAIRS: i32 = 16384
export const STARTS: i32 = 24576
export const WORD_STARTS: i32 = 24608

/**
 * Constants, 16 bytes each: compiled code would build a vector again for each step of a loop. Half a byte, the least digit and what follows the last one as
 * numbers with signs, for each half byte that ends n, r, t, a quote, a backslash or a slash which half bytes begin one of these as bits, these bits, and
 * the bits of the first two groups, in which cards and escapes are alone.
 */
export const HALF: i32 = 24640
export const DIGIT_LEAST: i32 = 24656
export const DIGIT_END: i32 = 24672
export const USUAL_BY_LOW: i32 = 24688
export const BIT_OF_HIGH: i32 = 24704
export const CARD_GROUP: i32 = 24720
export const ESCAPE_GROUP: i32 = 24736

export const CARD: i32 = 1
export const ESCAPE: i32 = 2
export const WORD: i32 = 3
export const ADDRESS: i32 = 4
export const START: i32 = 5

const ANY_CASE: i32 = 1
const DIGIT: i32 = 2

export function hasBit(bits: i32, number: i32): bool {
  return ((i32(load<u8>(bits + (number >> 3))) >> (number & 7)) & 1) !== 0
}

/** True when a byte is the one at a place of a literal. */
export function isByteOf(literal: i32, place: i32, byte: i32): bool {
  const way = i32(load<u8>(literal + WAYS + place))
  if (way === DIGIT) return byte >= 0x30 && byte <= 0x39
  return (way === ANY_CASE ? byte | 0x20 : byte) === i32(load<u8>(literal + BYTES + place))
}

/** True when the first bytes of a literal are at a position. */
export function isBeginAt(literal: i32, length: i32, at: i32): bool {
  for (let place = 0; place < length; place += 1) if (!isByteOf(literal, place, i32(load<u8>(at + place)))) return false
  return true
}
