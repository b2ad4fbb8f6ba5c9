import type { Pair } from './batch.ts'

/** PAIRS_MIN: a single pair in a text is more often an accident than data. */
const PAIRS_MIN = 2
const PAIRS_MAX = 200
const PAIR =
  /(?:^|(?<=[\s[({,;|]))([A-Za-z_@][\w.@/-]{0,127})=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s=,;|"'\])}][^\s,;|\])}]*))?(?=[\s,;|\])}]|$)/g
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** pairsIn reads the key=value pairs of a text, quoted or not; logfmt is a text that has nothing else. */
export function pairsIn(text: string): Pair[] {
  if (!text.includes('=')) return []
  const pairs: Pair[] = []
  for (const [, name = '', double, single, bare] of text.matchAll(PAIR)) {
    const value = double === undefined ? (single ?? bare) : double.replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char)
    if (value !== undefined) pairs.push([name, value])
    if (pairs.length === PAIRS_MAX) break
  }
  return pairs.length < PAIRS_MIN ? [] : pairs
}
