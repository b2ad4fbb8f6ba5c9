/** A range of code points, both ends inclusive. */
export type CodePointRange = readonly [first: number, last: number]
/** Sorted ranges that neither overlap nor touch. */
export type CharSet = readonly CodePointRange[]

const CODE_POINT_MAX = 0x10ffff

/** Sorts and merges ranges. */
export function charSet(ranges: readonly CodePointRange[]): CharSet {
  const merged: [number, number][] = []
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged
}

/** Parses a set written as characters and ranges such as `a-z`. */
export function charsOf(written: string): CharSet {
  const ranges: CodePointRange[] = []
  for (let at = 0; at < written.length; at += 1) {
    const isRange = written[at + 1] === '-' && at + 2 < written.length
    ranges.push([written.charCodeAt(at), written.charCodeAt(isRange ? at + 2 : at)])
    if (isRange) at += 2
  }
  return charSet(ranges)
}

export function inverted(set: CharSet): CharSet {
  const gaps: CodePointRange[] = []
  let next = 0
  for (const [first, last] of set) {
    if (first > next) gaps.push([next, first - 1])
    next = last + 1
  }
  if (next <= CODE_POINT_MAX) gaps.push([next, CODE_POINT_MAX])
  return gaps
}

/** Limits the work for one set. Ranges beyond it belong to scripts without case. */
const FOLDED_MAX = 2_000

/** Adds the other case of every character. */
export function caseless(set: CharSet): CharSet {
  const others: CodePointRange[] = []
  let left = FOLDED_MAX
  for (const [first, last] of set) {
    for (let char = first; char <= last && left > 0; char += 1, left -= 1) {
      const text = String.fromCodePoint(char)
      for (const other of [text.toLowerCase(), text.toUpperCase()]) {
        const point = other.codePointAt(0) ?? char
        if (other.length === String.fromCodePoint(point).length && point !== char) others.push([point, point])
      }
    }
  }
  return others.length === 0 ? set : charSet([...set, ...others])
}
