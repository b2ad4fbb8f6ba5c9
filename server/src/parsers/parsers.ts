import type { CompiledParser, ParserResult } from './compiled.ts'
import { compileDissect } from './dissect.ts'
import { compileGrok } from './grok.ts'
import type { StepBudget } from './regex-match.ts'
import { badPattern } from './regex-syntax.ts'

export type PatternType = 'GROK' | 'DISSECT'

export const PATTERN_CHARS_MAX = 2_048
/** LINE_CHARS_MAX: of a longer line only so much is looked at. */
export const LINE_CHARS_MAX = 32_768
/** LINE_STEPS is what one line may cost; CHAR_STEPS what lines may cost on average for each of their characters. */
const LINE_STEPS = 250_000
const CHAR_STEPS = 48
const SPARE_STEPS = 2_000_000
/** POST_STEPS is what the lines of one post may cost together, a few seconds of a busy machine. */
const POST_STEPS = 150_000_000

/** compilePattern makes a parser of a pattern, or refuses it with the place that is wrong. */
export function compilePattern(type: PatternType, pattern: string): CompiledParser {
  if (pattern.length > PATTERN_CHARS_MAX)
    throw badPattern(`must be at most ${PATTERN_CHARS_MAX} characters`, PATTERN_CHARS_MAX, 1, 'TOO_BIG')
  return type === 'GROK' ? compileGrok(pattern) : compileDissect(pattern)
}

/** typeOfPattern tells what a pattern is written in: names of GROK are in capitals, and only GROK is an expression. */
export function typeOfPattern(pattern: string): PatternType {
  const references = [...pattern.matchAll(/%\{([^}]*)\}/g)].map(([, text = '']) => text)
  if (references.length === 0) return 'GROK'
  return references.every((text) => /^[A-Z][A-Z0-9_]*(?::[^:]+){0,2}$/.test(text)) ? 'GROK' : 'DISSECT'
}

/** An Allowance bounds what the lines of one post cost together: a pattern made to be slow must not hold up others for long. */
export class ParseBudget {
  #steps = SPARE_STEPS
  #left = POST_STEPS
  readonly #fuel: StepBudget = { steps: 0 }

  /** read lets a parser read a line, as long as there is something left. */
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
