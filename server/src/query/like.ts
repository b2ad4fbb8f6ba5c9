/** A LikeRule says which values a LIKE pattern fits: `%` stands for any run, `_` for one character, and the whole value has to fit. */
export type LikeRule = { pattern: string; ignoreCase: boolean }

/** A Piece of a segment is text that has to be there, or a number of characters that may be anything. */
type Piece = string | number
type Segment = readonly Piece[]

/** likeMatcher makes the test for a pattern; its time is at most the product of both lengths, whatever the pattern. */
export function likeMatcher(rule: LikeRule): (value: string) => boolean {
  const segments = segmentsOf(rule.ignoreCase ? foldCase(rule.pattern) : rule.pattern)
  return (value) => fits(rule.ignoreCase ? foldCase(value) : value, segments)
}

/** foldCase takes the case out of a text one character at a time, so that `_` and positions keep their meaning. */
export function foldCase(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += oneOf(oneOf(character, character.toUpperCase()), undefined)
  return folded
}

/** oneOf keeps a character whose other case takes more than one, such as ß. */
function oneOf(character: string, upper: string | undefined): string {
  const other = upper ?? character.toLowerCase()
  return other.length === character.length ? other : character
}

/** segmentsOf cuts a pattern at its `%` signs; a backslash makes `%`, `_` and itself literal and is ordinary before anything else. */
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

function fits(value: string, segments: readonly Segment[]): boolean {
  const first = segments[0] ?? []
  let at = endOf(value, 0, first)
  if (segments.length === 1) return at === value.length
  for (let index = 1; index < segments.length - 1 && at >= 0; index += 1) at = find(value, at, segments[index] ?? [])
  return at >= 0 && endsWith(value, at, segments.at(-1) ?? [])
}

/** endOf is where a segment ends that begins at a place, or -1 when it does not fit there. */
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

/** find gives the end of the leftmost place where a segment fits: with runs between segments the leftmost is always good enough. */
function find(value: string, from: number, segment: Segment): number {
  const [first] = segment
  for (let at = from; at <= value.length; at += widthAt(value, at)) {
    if (typeof first === 'string') {
      at = value.indexOf(first, at)
      if (at < 0) return -1
    }
    const end = endOf(value, at, segment)
    if (end >= 0) return end
  }
  return -1
}

/** endsWith reports whether a segment fits exactly the end of the value, not before a place. */
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
