const ESCAPABLE = '%_\\'

/**
 * withBackslashEscape rewrites a pattern whose escape character is another one (ESCAPE '!') to the backslash, the only escape that the
 * tree knows. The other character makes `%`, `_` and itself literal and is ordinary before anything else; backslashes are ordinary.
 */
export function withBackslashEscape(pattern: string, mark: string): string {
  if (mark === '\\') return pattern
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

/** literal is one character as a pattern matches it literally. */
const literal = (character: string): string => (ESCAPABLE.includes(character) ? `\\${character}` : character)
