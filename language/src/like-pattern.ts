const ESCAPABLE = '%_\\'

/**
 * Rewrites a pattern to use the backslash as its only escape, whatever ESCAPE says. The escape character makes `%`, `_` and itself literal
 * and is ordinary before anything else. Ordinary backslashes are doubled, because a store rejects one at the end.
 */
export function canonicalPattern(pattern: string, mark: string): string {
  let written = ''
  const characters = [...pattern]
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? ''
    const next = characters[index + 1]
    if (character === mark && (next === '%' || next === '_' || next === mark)) {
      written += literal(next)
      index += 1
    } else {
      written += character === '\\' ? '\\\\' : character
    }
  }
  return written
}

/** Escapes one character for a LIKE pattern. */
const literal = (character: string): string => (ESCAPABLE.includes(character) ? `\\${character}` : character)
