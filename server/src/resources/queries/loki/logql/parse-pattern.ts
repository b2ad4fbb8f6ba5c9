import type { LogqlToken } from './scan.ts'
import type { LogqlTokens } from './tokens.ts'
import type { PatternPiece } from './tree.ts'

const CAPTURE = /<([a-zA-Z_][a-zA-Z0-9_]*)>/g

/** Parses the pattern of the stage `pattern`: literal text and captures such as `<ip>`; `<_>` is dropped. */
export function parsePattern(tokens: LogqlTokens, { text, position }: LogqlToken): PatternPiece[] {
  const pieces: PatternPiece[] = []
  const names = new Set<string>()
  let end = 0
  for (const match of text.matchAll(CAPTURE)) {
    const [whole, name = ''] = match
    if (match.index > end) pieces.push({ literal: text.slice(end, match.index) })
    else if (pieces.length > 0) throw tokens.error({ position }, `the captures before and at <${name}> have no text between them`)
    if (name !== '_' && names.has(name)) throw tokens.error({ position }, `the pattern captures <${name}> twice`)
    names.add(name)
    pieces.push({ capture: name === '_' ? undefined : name })
    end = match.index + whole.length
  }
  if (end < text.length) pieces.push({ literal: text.slice(end) })
  if (![...names].some((name) => name !== '_'))
    throw tokens.error({ position }, 'the pattern captures nothing; name a part, such as <path>')
  return pieces
}
