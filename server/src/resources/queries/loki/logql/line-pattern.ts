import { compileRegex } from '@dendro/language/regex'
import type { LogqlToken } from './scan.ts'
import type { LogqlTokens } from './tokens.ts'

/** Stands for any text of at least one character in the pattern of a line filter. */
export const ANY_TEXT = '<_>'

/** What lies between words and quoted names. */
const NO_WORD = /[^\p{L}\p{N}"_-]+/gu
const NAMED = /<[a-zA-Z_][a-zA-Z0-9_]*>/g

/** Refuses a pattern of a line filter that names parts of the line, or that leaves open where one text ends and the next begins. */
export function checkLinePattern(tokens: LogqlTokens, token: LogqlToken): void {
  const named = token.text.match(NAMED)?.find((name) => name !== ANY_TEXT)
  if (named !== undefined) throw tokens.error(token, `a line filter names no part of the line; write ${ANY_TEXT} instead of ${named}`)
  if (token.text.includes(ANY_TEXT + ANY_TEXT)) throw tokens.error(token, `the pattern has two ${ANY_TEXT} without text between them`)
}

/**
 * The pattern of a line filter as a regular expression. It reaches to the end of the line. It reaches to the start only if it begins with
 * ANY_TEXT: this is how the protocol has it.
 */
export function linePatternRegex(pattern: string): string {
  if (pattern === '') return '^$'
  const pieces = pattern.split(ANY_TEXT).map((text) => text.replaceAll(/[\\.+*?()|[\]{}^$]/g, '\\$&'))
  return `(?s)${pieces.join('.+')}$`
}

/** The longest literal text of a pattern. */
export const longestLiteral = (pattern: string): string =>
  pattern.split(ANY_TEXT).reduce((longest, text) => (text.length > longest.length ? text : longest), '')

/**
 * Writes a text, in which one mark stands for the variable parts, as a pattern that a line has. The text may come from a field of the line,
 * so that other text follows, signs are escaped, or blanks were joined or left out: the closest of these forms that fits the line is returned.
 */
export function fittingPattern(text: string, mark: string, line: string): string {
  const escaped = JSON.stringify(text).slice(1, -1)
  const forms = [text, escaped, text.replaceAll(/\s+/g, ANY_TEXT), escaped.replaceAll(/\s+/g, ANY_TEXT), text.replaceAll(NO_WORD, ANY_TEXT)]
  const patterns = forms.flatMap((form) => [form, form + ANY_TEXT]).map((form) => patternOf(form, mark))
  return (
    patterns.find((pattern) => compileRegex({ pattern: linePatternRegex(pattern), ignoreCase: false }).test(line)) ?? patternOf(text, mark)
  )
}

const patternOf = (text: string, mark: string): string =>
  text
    .replaceAll(mark, ANY_TEXT)
    .replaceAll(NAMED, ANY_TEXT)
    .replaceAll(/(?:<_>)+/g, ANY_TEXT)
