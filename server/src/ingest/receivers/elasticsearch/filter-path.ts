/** True when a member of the response, given by its path of keys, was requested. */
export type Wants = (...path: readonly string[]) => boolean

const PATTERNS_MAX = 50
const CHARS_MAX = 2_000

/**
 * Reads the query parameter `filter_path`: comma-separated patterns, with `*` for any key, `**` for any number of keys, and a minus sign
 * before excluded ones. A pattern includes everything below the keys it names.
 */
export function readFilterPath(text: string | undefined): Wants {
  const patterns = (text ?? '')
    .slice(0, CHARS_MAX)
    .split(',')
    .map((pattern) => pattern.trim())
    .filter(Boolean)
    .slice(0, PATTERNS_MAX)
  if (patterns.length === 0) return () => true
  const excluded = patterns.filter((pattern) => pattern.startsWith('-')).map((pattern) => pattern.slice(1).split('.'))
  const included = patterns.filter((pattern) => !pattern.startsWith('-')).map((pattern) => pattern.split('.'))
  return (...path) =>
    (included.length === 0 || included.some((pattern) => covers(pattern, path))) && !excluded.some((pattern) => covers(pattern, path))
}

/** Matches a pattern with the beginning of a path key by key, so that its time is bounded by both lengths. */
function covers(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0])
  if (isWhole(pattern, reached)) return true
  for (const key of path) {
    const next = new Set<number>()
    for (const at of closed(pattern, reached)) {
      const part = pattern[at] ?? ''
      if (part === '**') next.add(at)
      if (part === '**' || matches(part, key)) next.add(at + 1)
    }
    if (isWhole(pattern, next)) return true
    reached = next
  }
  return false
}

const isWhole = (pattern: readonly string[], reached: ReadonlySet<number>): boolean => closed(pattern, reached).has(pattern.length)

/** Adds the states reached when a `**` matches no key. */
function closed(pattern: readonly string[], reached: ReadonlySet<number>): Set<number> {
  const all = new Set(reached)
  for (const at of all) if (pattern[at] === '**') all.add(at + 1)
  return all
}

function matches(part: string, key: string): boolean {
  const [first = '', ...others] = part.split('*')
  if (others.length === 0) return part === key
  if (!key.startsWith(first)) return false
  let at = first.length
  const last = others.pop() ?? ''
  for (const piece of others) {
    const found = key.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return key.length - last.length >= at && key.endsWith(last)
}
