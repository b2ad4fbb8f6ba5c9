/** A LIKE pattern: `%` stands for any run, `_` for one character, and the whole value has to match. */
export type LikeRule = { pattern: string; ignoreCase: boolean }

/** Literal text, or a number of arbitrary characters. */
type Piece = string | number
type Segment = readonly Piece[]

/** Compiles a pattern. The match time is O(value length × pattern length / 32) for every pattern. */
export function likeMatcher(rule: LikeRule): (value: string) => boolean {
  const segments = segmentsOf(rule.ignoreCase ? foldCase(rule.pattern) : rule.pattern)
  const first = segments[0] ?? []
  const last = segments.at(-1) ?? []
  const inner = segments.slice(1, -1).map(finderOf)
  return (given) => {
    const value = rule.ignoreCase ? foldCase(given) : given
    let at = endOf(value, 0, first)
    if (segments.length === 1) return at === value.length
    for (const find of inner) {
      if (at < 0) return false
      at = find(value, at)
    }
    return at >= 0 && endsWith(value, at, last)
  }
}

/** Folds case one character at a time, so that `_` and positions keep their meaning. */
export function foldCase(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) {
    if (character === DOTLESS_I) {
      folded += character
      continue
    }
    const upper = keepWidth(character, character.toUpperCase())
    folded += keepWidth(upper, upper.toLowerCase())
  }
  return folded
}

/** The only letters beyond ASCII that equal an ASCII letter when case is ignored: the long s and the Kelvin sign. */
export const FOLDED_TO_ASCII = '\u017f\u212a'

/** The dotless i does not fold to i, although its upper case is I. */
const DOTLESS_I = '\u0131'

/** Leaves a character unchanged when its other case has another length, such as ß. */
const keepWidth = (character: string, other: string): string => (other.length === character.length ? other : character)

/** Splits a pattern at `%`. A backslash escapes `%`, `_` and itself, and is literal before anything else. */
function segmentsOf(pattern: string): readonly Segment[] {
  const segments: Piece[][] = [[]]
  let last: Piece[] = segments[0] ?? []
  for (let at = 0; at < pattern.length; at += 1) {
    const mark = pattern[at] ?? ''
    const next = pattern[at + 1] ?? ''
    const escaped = mark === '\\' && (next === '%' || next === '_' || next === '\\')
    if (escaped) at += 1
    if (mark === '%') {
      last = []
      segments.push(last)
    } else if (mark === '_') {
      const before = last.at(-1)
      if (typeof before === 'number') last[last.length - 1] = before + 1
      else last.push(1)
    } else {
      const text = escaped ? next : mark
      const before = last.at(-1)
      if (typeof before === 'string') last[last.length - 1] = before + text
      else last.push(text)
    }
  }
  return segments
}

/** Returns the end of a segment that matches at `from`, or -1. */
function endOf(value: string, from: number, segment: Segment): number {
  let at = from
  for (const piece of segment) {
    if (typeof piece === 'string') {
      if (!value.startsWith(piece, at)) return -1
      at += piece.length
      continue
    }
    for (let count = 0; count < piece; count += 1) {
      if (at >= value.length) return -1
      at += widthAt(value, at)
    }
  }
  return at
}

/** Returns the end of the leftmost match of a segment from `from` on, or -1. Between `%` the leftmost match is always sufficient. */
type Finder = (value: string, from: number) => number

function finderOf(segment: Segment): Finder {
  const [only] = segment
  if (only === undefined) return (_value, from) => from
  if (segment.length === 1 && typeof only === 'string') {
    return (value, from) => {
      const at = value.indexOf(only, from)
      return at < 0 ? -1 : at + only.length
    }
  }
  return bitFinderOf(
    segment.flatMap((piece): (string | undefined)[] => (typeof piece === 'string' ? [...piece] : Array(piece).fill(undefined))),
  )
}

/**
 * Finds a sequence of characters where undefined matches any character. Bit n of the state is set when the value so far ends with the first
 * n + 1 of them, so that one pass follows every possible start (shift-and algorithm).
 */
function bitFinderOf(characters: readonly (string | undefined)[]): Finder {
  const words = Math.ceil(characters.length / 32)
  const anything = new Uint32Array(words)
  for (const [index, character] of characters.entries()) if (character === undefined) setBit(anything, index)
  const masks = new Map<string | undefined, Uint32Array>()
  for (const [index, character] of characters.entries()) {
    const mask = masks.get(character) ?? anything.slice()
    masks.set(character, mask)
    setBit(mask, index)
  }
  const lastWord = words - 1
  const lastBit = 1 << ((characters.length - 1) % 32)
  return (value, from) => {
    const state = new Uint32Array(words)
    for (let at = from; at < value.length; ) {
      const width = widthAt(value, at)
      const mask = masks.get(width === 1 ? value[at] : value.slice(at, at + 2)) ?? anything
      let carry = 1
      for (let word = 0; word < words; word += 1) {
        const before = state[word] ?? 0
        state[word] = ((before << 1) | carry) & (mask[word] ?? 0)
        carry = before >>> 31
      }
      at += width
      if (((state[lastWord] ?? 0) & lastBit) !== 0) return at
    }
    return -1
  }
}

function setBit(bits: Uint32Array, index: number): void {
  const word = index >>> 5
  bits[word] = (bits[word] ?? 0) | (1 << (index & 31))
}

/** Whether a segment matches exactly the end of the value, not before `from`. */
function endsWith(value: string, from: number, segment: Segment): boolean {
  let at = value.length
  for (const piece of segment.toReversed()) {
    if (typeof piece === 'string') at -= piece.length
    else for (let count = 0; count < piece; count += 1) at -= at > 1 && widthAt(value, at - 2) === 2 ? 2 : 1
    if (at < from) return false
  }
  return endOf(value, at, segment) === value.length
}

const widthAt = (value: string, at: number): number => ((value.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
