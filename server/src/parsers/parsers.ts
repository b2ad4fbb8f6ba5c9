import type { CompiledParser, ParserResult } from './compiled.ts'
import { compileDissect } from './dissect.ts'
import { compileGrok } from './grok.ts'
import type { StepBudget } from './regex-match.ts'
import { badPattern } from './regex-syntax.ts'

export type PatternType = 'GROK' | 'DISSECT'

export const PATTERN_CHARS_MAX = 2_048
/** Longer lines are truncated before parsing. */
export const LINE_CHARS_MAX = 32_768
/** LINE_STEPS limits the cost of one line, CHAR_STEPS the average cost per character. */
const LINE_STEPS = 250_000
const CHAR_STEPS = 48
const SPARE_STEPS = 2_000_000
/** Limits the cost of all lines of one post to a few seconds of a busy machine. */
const POST_STEPS = 150_000_000

/** Compiles a pattern. Throws a 400 with the position of an error. */
export function compilePattern(type: PatternType, pattern: string): CompiledParser {
  if (pattern.length > PATTERN_CHARS_MAX)
    throw badPattern(`must be at most ${PATTERN_CHARS_MAX} characters`, PATTERN_CHARS_MAX, 1, 'TOO_BIG')
  return type === 'GROK' ? compileGrok(pattern) : compileDissect(pattern)
}

/** Detects the language of a pattern: GROK names are in upper case, and only GROK may be a plain expression. */
export function typeOfPattern(pattern: string): PatternType {
  const references = [...pattern.matchAll(/%\{([^}]*)\}/g)].map(([, text = '']) => text)
  if (references.length === 0) return 'GROK'
  return references.every((text) => /^[A-Z][A-Z0-9_]*(?::[^:]+){0,2}$/.test(text)) ? 'GROK' : 'DISSECT'
}

/** Limits the cost of parsing the lines of one post, so that a pattern that is slow on purpose cannot block other work. */
export class ParseBudget {
  #steps = SPARE_STEPS
  #left = POST_STEPS
  readonly #fuel: StepBudget = { steps: 0 }

  /** Parses a line within the remaining budget. */
  read(parser: CompiledParser, line: string): ParserResult {
    const text = line.length > LINE_CHARS_MAX ? line.slice(0, LINE_CHARS_MAX) : line
    this.#steps += CHAR_STEPS * text.length
    const given = Math.max(0, Math.min(LINE_STEPS, this.#steps, this.#left))
    this.#fuel.steps = given
    const read = parser.read(text, this.#fuel)
    const used = given - this.#fuel.steps
    this.#steps -= used
    this.#left -= used
    return read
  }
}
