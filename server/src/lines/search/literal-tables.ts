/** Makes the tables of a search, as assembly/tables.ts reads them. */

/**
 * What is searched: bytes, of which letters may be in any case and some may be any digit, also as a whole word or where a word begins, or one of a few kinds
 * of places.
 */
export type SearchedLiteral =
  | { readonly kind: 'bytes' | 'word' | 'start'; readonly bytes: readonly number[]; readonly ways: readonly ByteWay[] }
  /** Digits that may be the number of a card. */
  | { readonly kind: 'card' }
  /** A backslash before something else than n, r, t, a quote, a backslash or a slash. */
  | { readonly kind: 'escape' }
  /** An at sign between what may end the name of a mailbox and a domain. */
  | { readonly kind: 'address' }

type ByteWay = 'exact' | 'any case' | 'digit'

/** The bytes of a literal that are compared. */
const BYTES_MAX = 32
export const LITERALS_MAX = 200

/** A text that is searched. With `digits`, each `#` stands for a digit. */
export function literalOf(text: string, { anyCase = false, digits = false, isWord = false, isStart = false } = {}): SearchedLiteral {
  const written = [...Buffer.from(text)].slice(0, BYTES_MAX)
  const isAlphabetic = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
  const ways = written.map((byte): ByteWay => (digits && byte === HASH ? 'digit' : anyCase && isAlphabetic(byte) ? 'any case' : 'exact'))
  const kind = isStart ? 'start' : isWord && written.length === Buffer.byteLength(text) ? 'word' : 'bytes'
  return { kind, bytes: written.map((byte, at) => (ways[at] === 'any case' ? byte | 0x20 : byte)), ways }
}

const HASH = 0x23

const SET_BYTES = 128
const GROUPS_AT = 320
const ALL_OWNERS_AT = 340
const CARD_OWNERS_AT = 344
const ADDRESS_OWNERS_AT = 348
const ESCAPE_OWNERS_AT = 352
const HAS_LONG_CHARS_AT = 356
const HAS_SECOND_SET_AT = 360
const LITERALS_AT = 384
const LITERAL_BYTES = 80
const LENGTH_IN = 1
const OFFSET_IN = 2
const MASKED_IN = 4
const BYTES_IN = 8
const WAYS_IN = 40
const OWNERS_IN = 72
const MASK_IN = 76
const PAIRS_AT = 16_384
const STARTS_AT = 24_576
const WORD_STARTS_AT = 24_608
const CONSTANTS_AT = 24_640
export const TABLES_BYTES = 24_752
const GROUP_COUNT = 16
/** Kinds that have a group of their own, in this order. */
const OWN_GROUPS: readonly SearchedLiteral['kind'][] = ['card', 'escape']
const GROUPS_OF_SET = 8
/** The vectors that the search needs at each step, in the order of assembly/tables.ts. A vector of one number has it 16 times. */
const CONSTANTS: readonly (number | readonly number[])[] = [
  0x0f,
  0xb0,
  0x8a,
  [0, 0, 0x84, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0x40, 0x04],
  [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0],
  1,
  2,
]
const COMPARED = 4
const LONG_CHAR = 0xf0

const kinds: Readonly<Record<SearchedLiteral['kind'], number>> = { bytes: 0, card: 1, escape: 2, word: 3, address: 4, start: 5 }
const ways: Readonly<Record<ByteWay, number>> = { exact: 0, 'any case': 1, digit: 2 }

/** Whether the byte of a literal at a place may have a value. */
function valuesAt(literal: SearchedLiteral, place: number): (byte: number) => boolean {
  switch (literal.kind) {
    case 'card':
      return place === 0 ? (byte) => byte >= 0x32 && byte <= 0x36 : isDigit
    case 'escape':
      return place === 0 ? (byte) => byte === 0x5c : () => true
    case 'address':
      return place === 0 ? (byte) => byte === 0x40 : () => true
    case 'word':
    case 'start':
    case 'bytes': {
      const [wanted, way] = [literal.bytes[place], literal.ways[place]]
      if (wanted === undefined) return () => true
      if (way === 'digit') return isDigit
      return (byte) => (way === 'any case' ? byte | 0x20 : byte) === wanted
    }
  }
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** How often bytes are in lines, roughly. */
const frequencies = Float64Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte)
  if (/[aeinorst]/.test(char)) return 0.05
  if (/[a-z0-9 ]/.test(char)) return 0.03
  if (/["':,.=/_-]/.test(char)) return 0.02
  return /[A-Z]/.test(char) ? 0.005 : 0.001
})

/** Which half bytes may be at each of the compared places. */
type Halves = { readonly low: Uint16Array; readonly high: Uint16Array }

const noHalves = (): Halves => ({ low: new Uint16Array(COMPARED), high: new Uint16Array(COMPARED) })

function halvesOf(literal: SearchedLiteral, offset: number): Halves {
  const halves = noHalves()
  for (let place = 0; place < COMPARED; place += 1) {
    const may = valuesAt(literal, offset + place)
    for (let byte = 0; byte < 256; byte += 1) {
      if (!may(byte)) continue
      halves.low[place] = (halves.low[place] ?? 0) | (1 << (byte & 15))
      halves.high[place] = (halves.high[place] ?? 0) | (1 << (byte >> 4))
    }
  }
  return halves
}

const united = (one: Halves, other: Halves): Halves => ({
  low: one.low.map((bits, place) => bits | (other.low[place] ?? 0)),
  high: one.high.map((bits, place) => bits | (other.high[place] ?? 0)),
})

/** How often bytes are that begin with a half byte, and end with one of the lower or upper eight: the sums for each set of these. */
const sums = Float64Array.from({ length: 2 * 16 * 256 }, (_, at) => {
  const [high, upper, set] = [(at >> 8) & 15, at >> 12, at & 255]
  let sum = 0
  for (let bit = 0; bit < 8; bit += 1) if (set & (1 << bit)) sum += frequencies[(high << 4) | (upper << 3) | bit] ?? 0
  return sum
})

/** How often a position passes the tables, roughly. */
function shareOf({ low, high }: Halves): number {
  let share = 1
  for (let place = 0; place < COMPARED; place += 1) {
    const [lows, highs] = [low[place] ?? 0, high[place] ?? 0]
    let sum = 0
    for (let half = 0; half < 16; half += 1) {
      if (highs & (1 << half)) sum += (sums[(half << 8) | (lows & 255)] ?? 0) + (sums[(16 << 8) | (half << 8) | (lows >> 8)] ?? 0)
    }
    share *= Math.min(1, sum)
  }
  return share
}

/** The place in a literal whose bytes are the rarest. */
function rarestOffset(literal: SearchedLiteral): number {
  if (!('bytes' in literal)) return 0
  const offsets = Array.from({ length: Math.max(1, literal.bytes.length - COMPARED + 1) }, (_, at) => at)
  const shares = offsets.map((offset) => shareOf(halvesOf(literal, offset)))
  return shares.indexOf(Math.min(...shares))
}

/** A literal and the bits of the lists that have it. */
export type OwnedLiteral = { readonly literal: SearchedLiteral; owners: number }

type GroupOfLiterals = { halves: Halves; share: number; readonly members: (OwnedLiteral & { offset: number })[] }

/** Each literal joins the group that finds the fewest more positions with it. */
function groupsOf(literals: readonly OwnedLiteral[]): readonly GroupOfLiterals[] {
  const groups = Array.from({ length: GROUP_COUNT }, (): GroupOfLiterals => ({ halves: noHalves(), share: 0, members: [] }))
  const placed = literals.map(({ literal, owners }) => {
    const offset = rarestOffset(literal)
    const halves = halvesOf(literal, offset)
    return { literal, owners, offset, halves, share: shareOf(halves) }
  })
  for (const { literal, owners, offset, halves } of placed.toSorted((a, b) => b.share - a.share)) {
    const own = OWN_GROUPS.indexOf(literal.kind)
    const possible = own < 0 ? groups.slice(OWN_GROUPS.length) : groups.slice(own, own + 1)
    const grown = possible.map((group) => {
      const union = united(group.halves, halves)
      return { group, union, share: shareOf(union) }
    })
    const best = grown.reduce((least, one) => (one.share - one.group.share < least.share - least.group.share ? one : least))
    best.group.halves = best.union
    best.group.share = best.share
    best.group.members.push({ literal, owners, offset })
  }
  return groups
}

export function tablesOf(literals: readonly OwnedLiteral[]): Uint8Array {
  const tables = new Uint8Array(TABLES_BYTES)
  const words = new DataView(tables.buffer)
  let number = 0
  for (const [group, { halves, members }] of groupsOf(literals).entries()) {
    tables[GROUPS_AT + group] = number
    for (const { literal, owners, offset } of members) {
      const at = LITERALS_AT + number * LITERAL_BYTES
      tables[at] = kinds[literal.kind]
      tables[at + OFFSET_IN] = offset
      words.setInt32(at + OWNERS_IN, owners, true)
      if ('bytes' in literal) {
        tables[at + LENGTH_IN] = literal.bytes.length
        tables.set(literal.bytes, at + BYTES_IN)
        tables.set(
          literal.ways.map((way) => ways[way]),
          at + WAYS_IN,
        )
        const same = sameBits(literal, offset)
        words.setUint32(at + MASK_IN, same.mask, true)
        words.setUint32(at + MASKED_IN, same.bits, true)
        markBytes(tables, literal)
      }
      number += 1
    }
    tables[GROUPS_AT + group + 1] = number
    const set = group < GROUPS_OF_SET ? 0 : SET_BYTES
    if (set > 0 && members.length > 0) words.setInt32(HAS_SECOND_SET_AT, 1, true)
    for (let place = 0; place < COMPARED; place += 1) {
      for (let half = 0; half < 16; half += 1) {
        const [low, high] = [set + place * 32 + half, set + place * 32 + 16 + half]
        if ((halves.low[place] ?? 0) & (1 << half)) mark(tables, low, group % GROUPS_OF_SET)
        if ((halves.high[place] ?? 0) & (1 << half)) mark(tables, high, group % GROUPS_OF_SET)
      }
    }
  }
  const ownersOf = (isOne: (literal: SearchedLiteral) => boolean): number =>
    literals.reduce((sum, { literal, owners }) => (isOne(literal) ? sum | owners : sum), 0)
  words.setInt32(
    ALL_OWNERS_AT,
    ownersOf(() => true),
    true,
  )
  words.setInt32(
    CARD_OWNERS_AT,
    ownersOf(({ kind }) => kind === 'card'),
    true,
  )
  words.setInt32(
    ADDRESS_OWNERS_AT,
    ownersOf(({ kind }) => kind === 'address'),
    true,
  )
  words.setInt32(
    ESCAPE_OWNERS_AT,
    ownersOf(({ kind }) => kind === 'escape'),
    true,
  )
  const hasLongChars = literals.some(({ literal }) => 'bytes' in literal && literal.bytes.some((byte) => byte >= LONG_CHAR))
  words.setInt32(HAS_LONG_CHARS_AT, Number(hasLongChars), true)
  for (const [at, vector] of CONSTANTS.entries())
    tables.set(Array.isArray(vector) ? vector : Array(16).fill(vector), CONSTANTS_AT + at * 16)
  return tables
}

/** The bits that are the same in all texts that a literal stands for, of its four bytes from a place on, the first byte lowest. */
function sameBits({ bytes, ways }: Extract<SearchedLiteral, { bytes: readonly number[] }>, offset: number): { mask: number; bits: number } {
  let [mask, bits] = [0, 0]
  for (let place = COMPARED - 1; place >= 0; place -= 1) {
    const byte = bytes[offset + place]
    const ofByte = byte === undefined ? 0 : SAME_BITS[ways[offset + place] ?? 'exact']
    mask = mask * 256 + ofByte
    bits = bits * 256 + ((ways[offset + place] === 'digit' ? ZERO : (byte ?? 0)) & ofByte)
  }
  return { mask, bits }
}

const ZERO = 0x30
/** Letters differ by one bit in their cases, and digits in the lower half. */
const SAME_BITS: Readonly<Record<ByteWay, number>> = { exact: 0xff, 'any case': 0xdf, digit: 0xf0 }

/** Sets a bit of the bits that begin at a place. */
function mark(tables: Uint8Array, bits: number, bit: number): void {
  const at = bits + (bit >> 3)
  tables[at] = (tables[at] ?? 0) | (1 << (bit & 7))
}

/** Marks the first bytes of a literal, and which of its bytes follow each other. */
function markBytes(tables: Uint8Array, literal: Extract<SearchedLiteral, { bytes: readonly number[] }>): void {
  const possible = literal.bytes.map((byte, place) => bytesOf(byte, literal.ways[place]))
  for (const byte of possible[0] ?? []) {
    mark(tables, STARTS_AT, byte)
    if (literal.kind !== 'bytes') mark(tables, WORD_STARTS_AT, byte)
  }
  for (const [place, seconds] of possible.entries()) {
    for (const first of possible[place - 1] ?? []) for (const second of seconds) mark(tables, PAIRS_AT, (first << 8) | second)
  }
}

const digits: readonly number[] = Array.from({ length: 10 }, (_, digit) => 0x30 + digit)

/** The bytes that a byte of a literal stands for. */
const bytesOf = (byte: number, way: ByteWay | undefined): readonly number[] => {
  if (way === 'digit') return digits
  return way === 'any case' ? [byte, byte ^ 0x20] : [byte]
}
