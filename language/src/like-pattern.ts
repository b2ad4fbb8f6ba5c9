const ESCAPABLE = '%_\\'

/**
 * canonicalPattern writes a pattern with the backslash as its only escape, whatever ESCAPE said. The escape character makes `%`, `_` and
 * itself literal and is ordinary before anything else; an ordinary backslash is doubled, since a store refuses one at the end.
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

/** literal is one character as a pattern matches it literally. */
const literal = (character: string): string => (ESCAPABLE.includes(character) ? `\\${character}` : character)
